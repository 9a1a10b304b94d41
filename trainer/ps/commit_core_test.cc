#include "trainer/ps/commit_core.h"

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"

namespace taas::ps {
namespace {

using Kind = Decision::Kind;

StagedPush Push(uint32_t rank, uint64_t sequence, int64_t batch, uint64_t start = 1) {
  return {{{rank, 1, start}, sequence, batch}, 0};
}

Decision Commit(const StagedPush& staged, int64_t step) {
  return {Kind::kCommit, {staged.push}, step};
}

Sequencer Async(int shards, CommittedSet committed, int64_t batches) {
  const int64_t step = committed.size();
  return Sequencer({.shards = shards, .committed = committed, .step = step, .steps = batches});
}

TEST(SequencerTest, PushCommitsOnceAllShardsHaveStagedIt) {
  Sequencer sequencer = Async(3, {}, 10);
  EXPECT_TRUE(sequencer.OnStaged(0, Push(0, 1, 4)).empty());
  EXPECT_TRUE(sequencer.OnStaged(2, Push(0, 1, 4)).empty());
  EXPECT_TRUE(sequencer.OnStaged(2, Push(0, 1, 4)).empty());
  const auto decisions = sequencer.OnStaged(1, Push(0, 1, 4));
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0], Commit(Push(0, 1, 4), 1));
  EXPECT_TRUE(sequencer.OnStaged(1, Push(0, 1, 4)).empty());
  EXPECT_EQ(sequencer.step(), 1);
}

TEST(SequencerTest, BatchThatIsPartOfTheModelIsDropped) {
  Sequencer sequencer = Async(1, CommittedSet(3, {5}), 10);
  EXPECT_EQ(sequencer.step(), 4);
  EXPECT_EQ(sequencer.OnStaged(0, Push(0, 1, 2))[0].kind, Kind::kDrop);
  EXPECT_EQ(sequencer.OnStaged(0, Push(0, 2, 5))[0].kind, Kind::kDrop);
  EXPECT_EQ(sequencer.OnStaged(0, Push(0, 3, 10))[0].kind, Kind::kDrop);
  EXPECT_EQ(sequencer.OnStaged(0, Push(0, 4, 3))[0], Commit(Push(0, 4, 3), 5));
}

// Resumed in asynchronous mode, a job whose synchronous cursor had gaps made more than maxSteps.
TEST(SequencerTest, NoUpdateIsMadeAboveTheLastStepThoughTheCursorHasGaps) {
  // Two steps of three batches, made of 0, 1, 2 and 9, 10, 11: four below the last are open.
  Sequencer sequencer({.committed = CommittedSet(3, {9, 10, 11}), .step = 2, .steps = 4});
  EXPECT_EQ(sequencer.OnStaged(0, Push(0, 1, 3))[0], Commit(Push(0, 1, 3), 3));
  EXPECT_EQ(sequencer.OnStaged(0, Push(0, 2, 4))[0], Commit(Push(0, 2, 4), 4));
  EXPECT_EQ(sequencer.OnStaged(0, Push(0, 3, 5))[0].kind, Kind::kDrop);
  EXPECT_EQ(sequencer.step(), 4);
  EXPECT_FALSE(sequencer.committed().Contains(5));
}

TEST(SequencerTest, FencedPusherCommitsNoMore) {
  Sequencer sequencer = Async(2, {}, 10);
  EXPECT_TRUE(sequencer.OnStaged(0, Push(0, 1, 0)).empty());
  EXPECT_EQ(sequencer.OnFence({0, 1, 1}).size(), 1u);
  EXPECT_TRUE(sequencer.OnFence({0, 1, 1}).empty());
  EXPECT_TRUE(sequencer.OnStaged(1, Push(0, 1, 0)).empty());
  EXPECT_TRUE(sequencer.OnStaged(0, Push(0, 1, 0)).empty());
  EXPECT_EQ(sequencer.step(), 0);
  // Its successor has another start.
  EXPECT_TRUE(sequencer.OnStaged(0, Push(0, 1, 0, 2)).empty());
  EXPECT_EQ(sequencer.OnStaged(1, Push(0, 1, 0, 2))[0].kind, Kind::kCommit);
}

TEST(SequencerTest, ShardTooFarBehindIsToldSo) {
  Sequencer sequencer = Async(1, {}, 1 << 20);
  for (uint64_t i = 0; i < kDecisionsKept + 10; ++i) {
    sequencer.OnStaged(0, Push(0, i + 1, static_cast<int64_t>(i)));
  }
  EXPECT_THAT(sequencer.DecisionsAfter(9), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(sequencer.DecisionsAfter(100)->size(), kDecisionsKept + 10 - 100);
}

TEST(PushLedgerTest, RepeatedPushOfASettledOneIsAnsweredAtOnce) {
  PushLedger ledger(0);
  EXPECT_EQ(ledger.OnPush(Push(0, 1, 7)), Admission::kStaged);
  EXPECT_EQ(ledger.OnPush(Push(0, 1, 7)), Admission::kStaged);
  EXPECT_TRUE(*ledger.OnDecision(Commit(Push(0, 1, 7), 1)));
  EXPECT_EQ(ledger.OnPush(Push(0, 1, 7)), Admission::kSettled);
  EXPECT_TRUE(ledger.settled({0, 1, 1}).applied);
  EXPECT_FALSE(*ledger.OnDecision(Commit(Push(0, 1, 7), 1)));
}

TEST(PushLedgerTest, CutThatComesAgainIsNotHeldAgain) {
  Sequencer sequencer = Async(2, {}, 10);
  PushLedger ledger(0);
  const Decision first = sequencer.OnCut();
  EXPECT_TRUE(*ledger.OnDecision(first));
  EXPECT_TRUE(sequencer.DecisionsAfter(ledger.seen())->empty());
  EXPECT_FALSE(*ledger.OnDecision(first));
  // Another cut of the same step is another cut.
  EXPECT_TRUE(*ledger.OnDecision(sequencer.OnCut()));
}

TEST(PushLedgerTest, CommitOfAnUnknownPushIsAnErrorAndChangesNothing) {
  PushLedger ledger(0);
  EXPECT_THAT(ledger.OnDecision(Commit(Push(0, 1, 7), 1)),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  ledger.OnPush(Push(0, 1, 7));
  EXPECT_THAT(
      ledger.OnDecision({Kind::kCommit, {Push(0, 1, 7).push, Push(1, 1, 8).push}, 1}),
      StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_TRUE(ledger.holds(Push(0, 1, 7).push));
  EXPECT_EQ(ledger.step(), 0);
}

TEST(PushLedgerTest, GapInTheStreamIsAnError) {
  PushLedger ledger(4);
  ledger.OnPush(Push(0, 1, 7));
  EXPECT_THAT(ledger.OnDecision(Commit(Push(0, 1, 7), 6)),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(PushLedgerTest, BankedPushStaysWhileItsSenderGoesOnAndAnAbandonedOneDoesNot) {
  PushLedger ledger(0);
  ledger.OnPush(Push(0, 1, 7));
  ASSERT_THAT(ledger.OnDecision({Kind::kBank, {Push(0, 1, 7).push}, 0}), IsOk());
  EXPECT_TRUE(ledger.banked(Push(0, 1, 7).push));
  ledger.OnPush(Push(0, 2, 8));
  ledger.OnPush(Push(0, 3, 9));
  EXPECT_TRUE(ledger.holds(Push(0, 1, 7).push));
  EXPECT_FALSE(ledger.holds(Push(0, 2, 8).push));
  EXPECT_FALSE(ledger.banked(Push(0, 3, 9).push));
}

// Workers, shards and a chief as a random schedule over links that hold, repeat and break;
// workers die in the middle of a push and return as another incarnation, whose batches are the
// chief's to give again. Each push is a step.
class World {
 public:
  static constexpr int kBatches = 60;

  World(uint64_t seed, int shards, int workers)
      : random_(seed), sequencer_(Async(shards, {}, kBatches)), applied_(shards), to_zero_(shards),
        from_zero_(shards) {
    for (int i = 0; i < shards; ++i) ledgers_.emplace_back(0);
    for (int i = 0; i < workers; ++i) workers_.push_back({.pusher = {uint32_t(i), 1, 1}});
    for (int64_t b = 0; b < kBatches; ++b) pool_.push_back(b);
  }

  // True when all batches are committed and carried out on every shard.
  bool Turn() {
    switch (random_.Below(8)) {
      case 0:
      case 1:
      case 2: Work(workers_[random_.Below(workers_.size())]); break;
      case 3:
      case 4: DeliverStaged(random_.Below(ledgers_.size())); break;
      case 5:
      case 6: DeliverDecision(random_.Below(ledgers_.size())); break;
      case 7:
        if (random_.Below(6) == 0) Reconnect(random_.Below(ledgers_.size()));
        if (random_.Below(25) == 0) Kill(workers_[random_.Below(workers_.size())]);
        break;
    }
    for (const PushLedger& ledger : ledgers_) {
      if (ledger.step() != kBatches) return false;
    }
    return true;
  }

  const std::vector<std::vector<PushId>>& applied() const { return applied_; }

 private:
  struct Worker {
    Pusher pusher;
    uint64_t sequence = 0;
    std::optional<PushId> push;
    std::vector<int64_t> leased;
  };

  void Work(Worker& worker) {
    if (!worker.push) {
      if (worker.leased.empty()) {
        if (pool_.empty()) return;
        worker.leased.push_back(pool_.front());
        pool_.pop_front();
      }
      worker.push = PushId{worker.pusher, ++worker.sequence, worker.leased.back()};
    }
    // Sends to one shard, perhaps again; asks whether all have answered.
    const size_t shard = random_.Below(ledgers_.size());
    const StagedPush staged{*worker.push, 0};
    if (ledgers_[shard].OnPush(staged) == Admission::kStaged) {
      to_zero_[shard].push_back(staged);
    }
    for (const PushLedger& ledger : ledgers_) {
      if (ledger.settled(worker.pusher).sequence < worker.sequence) return;
    }
    worker.push.reset();
    worker.leased.pop_back();
  }

  void Kill(Worker& worker) {
    Broadcast(sequencer_.OnFence(worker.pusher));
    for (const int64_t batch : worker.leased) {
      if (!sequencer_.committed().Contains(batch)) pool_.push_back(batch);
    }
    worker = {.pusher = {worker.pusher.rank, worker.pusher.pod + 1, random_.Next()}};
  }

  void DeliverStaged(size_t shard) {
    if (to_zero_[shard].empty()) return;
    Broadcast(sequencer_.OnStaged(static_cast<int>(shard), to_zero_[shard].front()));
    to_zero_[shard].pop_front();
  }

  void DeliverDecision(size_t shard) {
    if (from_zero_[shard].empty()) return;
    const Decision decision = from_zero_[shard].front();
    from_zero_[shard].pop_front();
    const auto apply = ledgers_[shard].OnDecision(decision);
    ASSERT_THAT(apply, IsOk());
    if (*apply) applied_[shard].push_back(decision.push());
  }

  // Both directions lose what is under way; the shard says where it is and what it holds.
  void Reconnect(size_t shard) {
    to_zero_[shard].clear();
    from_zero_[shard].clear();
    const auto missed = sequencer_.DecisionsAfter(ledgers_[shard].seen());
    ASSERT_THAT(missed, IsOk());
    from_zero_[shard].assign(missed->begin(), missed->end());
    for (const StagedPush& push : ledgers_[shard].staged()) to_zero_[shard].push_back(push);
  }

  void Broadcast(const std::vector<Decision>& decisions) {
    for (auto& stream : from_zero_) stream.insert(stream.end(), decisions.begin(), decisions.end());
  }

  SeededRandom random_;
  Sequencer sequencer_;
  std::vector<PushLedger> ledgers_;
  std::vector<Worker> workers_;
  std::deque<int64_t> pool_;
  std::vector<std::vector<PushId>> applied_;
  std::vector<std::deque<StagedPush>> to_zero_;
  std::vector<std::deque<Decision>> from_zero_;
};

TEST(CommitRuleTest, EveryBatchIsAppliedOnceOnEveryShardInOneOrderWhateverHappens) {
  constexpr int kTurnsMax = 2'000'000;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    World world(seed, 1 + static_cast<int>(seed % 4), 1 + static_cast<int>(seed % 3));
    int turns = 0;
    while (!world.Turn()) ASSERT_LT(++turns, kTurnsMax) << "seed " << seed;
    std::set<int64_t> batches;
    for (const PushId& push : world.applied()[0]) batches.insert(push.batch);
    EXPECT_EQ(batches.size(), size_t{World::kBatches}) << "seed " << seed;
    for (const auto& applied : world.applied()) {
      EXPECT_EQ(applied, world.applied()[0]) << "seed " << seed;
    }
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace taas::ps
