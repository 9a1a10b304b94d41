// The commit rule with several gradients in one step: who makes a step, who is told to go on, and
// what a random schedule of deaths, slow replicas and broken links leaves.

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/ps/commit_core.h"

namespace taas::ps {
namespace {

using ::testing::ElementsAre;
using Kind = Decision::Kind;

Pusher Rank(uint32_t rank) { return {rank, 1, 1}; }

StagedPush Push(uint32_t rank, uint64_t sequence, int64_t batch, int64_t base) {
  return {{Rank(rank), sequence, batch}, base};
}

std::vector<int64_t> Batches(const Decision& decision) {
  std::vector<int64_t> batches;
  for (const PushId& push : decision.pushes) batches.push_back(push.batch);
  return batches;
}

TEST(AggregationTest, FirstGradientsOfAStepMakeItAndTheLateOneIsDroppedAndItsBatchGivenAgain) {
  Sequencer sequencer({.steps = 10, .aggregate = 2});
  EXPECT_EQ(sequencer.Next(Rank(0)), 0);
  EXPECT_EQ(sequencer.Next(Rank(1)), 1);
  EXPECT_EQ(sequencer.Next(Rank(2)), 2);
  EXPECT_TRUE(sequencer.OnStaged(0, Push(2, 1, 2, 0)).empty());
  const auto made = sequencer.OnStaged(0, Push(0, 1, 0, 0));
  ASSERT_EQ(made.size(), 1u);
  EXPECT_THAT(Batches(made[0]), ElementsAre(0, 2));
  EXPECT_EQ(sequencer.step(), 1);
  // What rank 1 had goes first.
  EXPECT_EQ(sequencer.Next(Rank(0)), 1);
  EXPECT_EQ(sequencer.Next(Rank(2)), 3);
  const auto late = sequencer.OnStaged(0, Push(1, 1, 1, 0));
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].kind, Kind::kDrop);
  EXPECT_EQ(sequencer.Next(Rank(1)), 4);
}

TEST(AggregationTest, WithoutTroubleAStepIsTheNextBatchesInOrder) {
  Sequencer sequencer({.steps = 50, .aggregate = 3});
  for (int64_t step = 0; step < 50; ++step) {
    std::vector<int64_t> given;
    for (uint32_t rank = 0; rank < 3; ++rank) given.push_back(*sequencer.Next(Rank(rank)));
    std::vector<Decision> decisions;
    // The last first: the order of arrival changes nothing.
    for (uint32_t rank = 3; rank-- > 0;) {
      decisions = sequencer.OnStaged(0, Push(rank, uint64_t(step) + 1, given[rank], step));
    }
    ASSERT_EQ(decisions.size(), 1u);
    EXPECT_THAT(Batches(decisions[0]), ElementsAre(3 * step, 3 * step + 1, 3 * step + 2));
  }
  EXPECT_TRUE(sequencer.finished());
  EXPECT_EQ(sequencer.Next(Rank(0)), std::nullopt);
}

TEST(AggregationTest, FewReplicasContributeSeveralGradientsToAStep) {
  Sequencer sequencer({.steps = 4, .aggregate = 3});
  ASSERT_EQ(sequencer.Next(Rank(0)), 0);
  for (uint64_t sequence = 1; sequence <= 2; ++sequence) {
    const auto decisions =
        sequencer.OnStaged(0, Push(0, sequence, static_cast<int64_t>(sequence) - 1, 0));
    ASSERT_EQ(decisions.size(), 1u);
    EXPECT_EQ(decisions[0].kind, Kind::kBank);
    EXPECT_EQ(sequencer.Next(Rank(0)), static_cast<int64_t>(sequence));
  }
  EXPECT_THAT(Batches(sequencer.OnStaged(0, Push(0, 3, 2, 0))[0]), ElementsAre(0, 1, 2));
}

TEST(AggregationTest, ReplicaThatWaitsTakesTheBatchOfOneWhoseConnectionBroke) {
  Sequencer sequencer({.steps = 4, .aggregate = 2});
  ASSERT_EQ(sequencer.Next(Rank(0)), 0);
  ASSERT_EQ(sequencer.Next(Rank(1)), 1);
  EXPECT_TRUE(sequencer.OnStaged(0, Push(0, 1, 0, 0)).empty());
  EXPECT_EQ(sequencer.Next(Rank(0)), std::nullopt);
  const auto decisions = sequencer.OnGone(Rank(1));
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0], (Decision{Kind::kBank, {Push(0, 1, 0, 0).push}, 0}));
  EXPECT_EQ(sequencer.Next(Rank(0)), 1);
}

// A connection that broke and was made anew left a replica waiting that nobody counted.
TEST(AggregationTest, ReplicaThatSendsItsPushAgainAfterABreakIsToldToGoOnWhenAnotherDies) {
  Sequencer sequencer({.steps = 4, .aggregate = 2});
  ASSERT_EQ(sequencer.Next(Rank(0)), 0);
  ASSERT_EQ(sequencer.Next(Rank(1)), 1);
  EXPECT_TRUE(sequencer.OnStaged(0, Push(0, 1, 0, 0)).empty());
  EXPECT_TRUE(sequencer.OnGone(Rank(0)).empty());
  EXPECT_TRUE(sequencer.OnHere(Push(0, 1, 0, 0).push).empty());
  EXPECT_TRUE(sequencer.OnStaged(0, Push(0, 1, 0, 0)).empty());
  EXPECT_EQ(sequencer.OnGone(Rank(1)).size(), 1u);
  EXPECT_EQ(sequencer.Next(Rank(0)), 1);
}

TEST(AggregationTest, FenceTakesDeliveredGradientsOutOfTheStepAgain) {
  Sequencer sequencer({.steps = 4, .aggregate = 2});
  ASSERT_EQ(sequencer.Next(Rank(0)), 0);
  EXPECT_EQ(sequencer.OnStaged(0, Push(0, 1, 0, 0)).size(), 1u);
  EXPECT_EQ(sequencer.OnFence(Rank(0)).size(), 1u);
  EXPECT_EQ(sequencer.Next(Rank(1)), 0);
  EXPECT_EQ(sequencer.OnStaged(0, Push(1, 1, 0, 0))[0].kind, Kind::kBank);
  EXPECT_EQ(sequencer.Next(Rank(1)), 1);
  EXPECT_EQ(sequencer.OnStaged(0, Push(1, 2, 1, 0))[0].kind, Kind::kCommit);
}

TEST(AggregationTest, IdleReplicaRepeatsWhatASlowOneHasUnderWayWhenNothingElseIsLeft) {
  Sequencer sequencer({.steps = 1, .aggregate = 2});
  ASSERT_EQ(sequencer.Next(Rank(0)), 0);
  ASSERT_EQ(sequencer.Next(Rank(1)), 1);
  EXPECT_EQ(sequencer.Next(Rank(2)), 0);
  EXPECT_TRUE(sequencer.OnStaged(0, Push(2, 1, 0, 0)).empty());
  EXPECT_EQ(sequencer.OnStaged(0, Push(1, 1, 1, 0))[0].kind, Kind::kCommit);
  EXPECT_EQ(sequencer.OnStaged(0, Push(0, 1, 0, 0))[0].kind, Kind::kDrop);
}

TEST(AggregationTest, BatchThatNobodyWasGivenIsDropped) {
  Sequencer sequencer({.steps = 4, .aggregate = 1});
  ASSERT_EQ(sequencer.Next(Rank(0)), 0);
  EXPECT_EQ(sequencer.OnStaged(0, Push(0, 1, 3, 0))[0].kind, Kind::kDrop);
  EXPECT_EQ(sequencer.step(), 0);
}

TEST(AggregationTest, JobThatIsResumedWithAnotherNumberTrainsWhatIsLeft) {
  Sequencer sequencer(
      {.committed = CommittedSet(3, {4}), .step = 2, .steps = 4, .aggregate = 3});
  std::set<int64_t> seen;
  for (uint64_t sequence = 1; !sequencer.finished(); ++sequence) {
    const auto batch = sequencer.Next(Rank(0));
    ASSERT_TRUE(batch);
    EXPECT_TRUE(seen.insert(*batch).second);
    sequencer.OnStaged(0, Push(0, sequence, *batch, sequencer.step()));
  }
  EXPECT_THAT(seen, ElementsAre(3, 5, 6, 7, 8, 9));
}

// Replicas, shards and a chief as a random schedule over links that hold, repeat and break.
// Replicas die and are fenced, or only lose their connections; some are slow.
class World {
 public:
  static constexpr int kSteps = 25;

  World(uint64_t seed, int shards, int workers, int aggregate)
      : random_(seed),
        aggregate_(aggregate),
        sequencer_({.shards = shards, .steps = kSteps, .aggregate = aggregate}),
        applied_(static_cast<size_t>(shards)),
        to_zero_(static_cast<size_t>(shards)),
        from_zero_(static_cast<size_t>(shards)) {
    for (int i = 0; i < shards; ++i) ledgers_.emplace_back(0);
    for (int i = 0; i < workers; ++i) workers_.push_back({.pusher = Rank(uint32_t(i))});
  }

  // True when all steps are made and carried out on every shard.
  bool Turn() {
    switch (random_.Below(8)) {
      case 0:
      case 1:
      case 2: {
        const size_t i = random_.Below(workers_.size());
        // The last one is slow.
        if (i == 0 || i + 1 < workers_.size() || random_.Below(10) == 0) Work(workers_[i]);
        break;
      }
      case 3:
      case 4: DeliverStaged(random_.Below(ledgers_.size())); break;
      case 5:
      case 6: DeliverDecision(random_.Below(ledgers_.size())); break;
      case 7: {
        Worker& worker = workers_[random_.Below(workers_.size())];
        if (random_.Below(6) == 0) Reconnect(random_.Below(ledgers_.size()));
        if (random_.Below(40) == 0) Kill(worker);
        if (random_.Below(10) == 0) Broadcast(sequencer_.OnGone(worker.pusher));
        if (random_.Below(40) == 0) Broadcast({sequencer_.OnCut()});
        break;
      }
    }
    for (const PushLedger& ledger : ledgers_) {
      if (ledger.step() != kSteps) return false;
    }
    return true;
  }

  const std::vector<std::vector<Decision>>& applied() const { return applied_; }

 private:
  struct Worker {
    Pusher pusher;
    uint64_t sequence = 0;
    int64_t base = -1;  // The step of its values; -1: it has none.
    std::optional<int64_t> batch;
    std::optional<StagedPush> push;
  };

  // Values of one step from all shards, or none: as a replica that compares the answers.
  void Pull(Worker& worker) {
    worker.base = ledgers_[0].step();
    for (const PushLedger& ledger : ledgers_) {
      if (ledger.step() != worker.base) worker.base = -1;
    }
    worker.batch = worker.base < 0 ? std::nullopt : sequencer_.Next(worker.pusher);
    // Shard 0 decides before it carries out: what it gives is for the step that it made.
    if (sequencer_.step() != worker.base) worker.batch.reset();
  }

  void Work(Worker& worker) {
    if (!worker.push) {
      if (!worker.batch) Pull(worker);
      if (!worker.batch) return;
      worker.push = StagedPush{{worker.pusher, ++worker.sequence, *worker.batch}, worker.base};
    }
    const size_t shard = random_.Below(ledgers_.size());
    // Sent again now and then, as after a break.
    const bool send = !ledgers_[shard].holds(worker.push->push) || random_.Below(10) == 0;
    if (send && ledgers_[shard].OnPush(*worker.push) == Admission::kStaged) {
      to_zero_[shard].push_back(*worker.push);
      if (shard == 0) Broadcast(sequencer_.OnHere(worker.push->push));
    }
    bool banked = true;
    for (const PushLedger& ledger : ledgers_) {
      const bool settled = ledger.settled(worker.pusher).sequence >= worker.sequence;
      if (!settled && !ledger.banked(worker.push->push)) return;
      banked = banked && !settled;
    }
    const bool same_values = banked && sequencer_.step() == worker.base;
    worker.push.reset();
    worker.batch.reset();
    if (same_values) worker.batch = sequencer_.Next(worker.pusher);
  }

  void Kill(Worker& worker) {
    Broadcast(sequencer_.OnFence(worker.pusher));
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
    if (!*apply || decision.kind != Kind::kCommit) return;
    EXPECT_EQ(decision.pushes.size(), static_cast<size_t>(aggregate_));
    applied_[shard].push_back(decision);
  }

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
  const int aggregate_;
  Sequencer sequencer_;
  std::vector<PushLedger> ledgers_;
  std::vector<Worker> workers_;
  std::vector<std::vector<Decision>> applied_;
  std::vector<std::deque<StagedPush>> to_zero_;
  std::vector<std::deque<Decision>> from_zero_;
};

TEST(AggregationTest, EveryStepIsTheSameOnAllShardsAndEveryBatchCountsOnceWhateverHappens) {
  constexpr int kTurnsMax = 2'000'000;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const int aggregate = 1 + static_cast<int>(seed % 4);
    World world(seed, 1 + static_cast<int>(seed % 3), 1 + static_cast<int>(seed % 5), aggregate);
    int turns = 0;
    while (!world.Turn()) ASSERT_LT(++turns, kTurnsMax) << "seed " << seed;
    std::set<int64_t> batches;
    for (const Decision& decision : world.applied()[0]) {
      for (const PushId& push : decision.pushes) {
        EXPECT_TRUE(batches.insert(push.batch).second) << "seed " << seed;
      }
    }
    EXPECT_EQ(*batches.rbegin(), World::kSteps * aggregate - 1) << "seed " << seed;
    for (const auto& applied : world.applied()) {
      EXPECT_EQ(applied.size(), size_t{World::kSteps}) << "seed " << seed;
      EXPECT_EQ(applied, world.applied()[0]) << "seed " << seed;
    }
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace taas::ps
