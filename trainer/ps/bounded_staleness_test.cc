// The commit rule with a bound on staleness, by a random schedule over several shards.

#include <algorithm>
#include <deque>
#include <limits>
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

using Kind = Decision::Kind;

Pusher Rank(uint32_t rank, uint64_t start = 1) { return {rank, 1, start}; }

StagedPush Push(const Pusher& pusher, uint64_t sequence, int64_t batch, int64_t base) {
  return {{pusher, sequence, batch}, base};
}

Sequencer Bounded(int64_t most, int64_t steps, int shards = 1, CommittedSet committed = {}) {
  const int64_t step = committed.size();
  return Sequencer({.shards = shards, .committed = std::move(committed), .step = step,
                    .steps = steps, .aggregate = 1, .max_staleness = most});
}

std::vector<Kind> Kinds(const std::vector<Decision>& decisions) {
  std::vector<Kind> kinds;
  for (const Decision& decision : decisions) kinds.push_back(decision.kind);
  return kinds;
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BoundedStalenessTest, AFastReplicaWaitsForASlowOneAtTheBound) {
  Sequencer sequencer = Bounded(2, 10);
  ASSERT_EQ(sequencer.Next(Rank(0)), 0);
  ASSERT_EQ(sequencer.Next(Rank(1)), 1);
  EXPECT_EQ(sequencer.OldestFor(Rank(1)), 0);
  EXPECT_THAT(Kinds(sequencer.OnStaged(0, Push(Rank(1), 1, 1, 0))), ElementsAre(Kind::kCommit));
  EXPECT_EQ(sequencer.Next(Rank(1)), 2);
  EXPECT_EQ(sequencer.OldestFor(Rank(1)), 1);
  EXPECT_THAT(Kinds(sequencer.OnStaged(0, Push(Rank(1), 2, 2, 1))), ElementsAre(Kind::kCommit));
  EXPECT_EQ(sequencer.Next(Rank(1)), 3);
  // A third update, and rank 0's gradient would be three updates old.
  EXPECT_THAT(sequencer.OnStaged(0, Push(Rank(1), 3, 3, 2)), IsEmpty());
  EXPECT_EQ(sequencer.Next(Rank(1)), std::nullopt);
  const auto decisions = sequencer.OnStaged(0, Push(Rank(0), 1, 0, 0));
  ASSERT_THAT(Kinds(decisions), ElementsAre(Kind::kCommit, Kind::kCommit));
  EXPECT_EQ(decisions[0].push().pusher, Rank(0));
  EXPECT_EQ(decisions[1].push().pusher, Rank(1));
  EXPECT_EQ(sequencer.step(), 4);
}

TEST(BoundedStalenessTest, WhoWaitsGoesOnWhenTheSlowOneIsGone) {
  for (const bool fenced : {false, true}) {
    Sequencer sequencer = Bounded(0, 10);
    ASSERT_EQ(sequencer.Next(Rank(0)), 0);
    EXPECT_EQ(sequencer.Next(Rank(1)), std::nullopt) << "no more begin than can be in time";
    if (fenced) sequencer.OnFence(Rank(0));
    else sequencer.OnGone(Rank(0));
    EXPECT_EQ(sequencer.Next(Rank(1)), 0) << "its batch goes to others";
  }
}

TEST(BoundedStalenessTest, AGradientThatIsTooOldIsDroppedAndItsBatchComputedAnew) {
  Sequencer sequencer = Bounded(1, 10);
  ASSERT_EQ(sequencer.Next(Rank(0)), 0);
  sequencer.OnGone(Rank(0));
  ASSERT_EQ(sequencer.Next(Rank(1)), 0);
  sequencer.OnStaged(0, Push(Rank(1), 1, 0, 0));
  ASSERT_EQ(sequencer.Next(Rank(1)), 1);
  sequencer.OnStaged(0, Push(Rank(1), 2, 1, 1));
  // It had only lost its connection, and comes with values of step 0.
  ASSERT_EQ(sequencer.Next(Rank(0)), 3) << "rank 1 has batch 2";
  EXPECT_THAT(Kinds(sequencer.OnStaged(0, Push(Rank(0), 1, 3, 0))), ElementsAre(Kind::kDrop));
  EXPECT_EQ(sequencer.Next(Rank(0)), 3);
  EXPECT_EQ(sequencer.OldestFor(Rank(0)), 2);
}

// Its first gradient, which its shards have forgotten, was committed, and the generation ended.
TEST(BoundedStalenessTest, AWaitingGradientThatComesAgainUnderAnotherNumberCountsUnderThat) {
  Sequencer sequencer = Bounded(1, 10);
  ASSERT_EQ(sequencer.Next(Rank(0)), 0);
  ASSERT_EQ(sequencer.Next(Rank(1)), 1);
  sequencer.OnStaged(0, Push(Rank(1), 1, 1, 0));
  ASSERT_EQ(sequencer.Next(Rank(1)), 2);
  EXPECT_THAT(sequencer.OnStaged(0, Push(Rank(1), 2, 2, 1)), IsEmpty());
  EXPECT_THAT(sequencer.OnStaged(0, Push(Rank(1), 3, 2, 1)), IsEmpty());
  const auto decisions = sequencer.OnStaged(0, Push(Rank(0), 1, 0, 0));
  ASSERT_THAT(Kinds(decisions), ElementsAre(Kind::kCommit, Kind::kCommit));
  EXPECT_EQ(decisions[1].push().sequence, 3u);
}

// The one that had made an update began again before those that waited for their turn, for ever.
TEST(BoundedStalenessTest, WhereNotAllMayComputeAtATimeTheyTakeTurns) {
  for (const int64_t most : {0, 1, 2}) {
    constexpr int64_t kSteps = 120;
    constexpr uint32_t kReplicas = 4;
    Sequencer sequencer = Bounded(most, kSteps);
    std::map<uint32_t, uint64_t> made;
    for (int turn = 0; !sequencer.finished() && turn < 10'000; ++turn) {
      const uint32_t rank = static_cast<uint32_t>(turn) % kReplicas;
      const auto batch = sequencer.Next(Rank(rank));
      if (!batch) continue;
      const auto base = sequencer.OldestFor(Rank(rank));
      ++made[rank];
      sequencer.OnStaged(0, Push(Rank(rank), made[rank], *batch, *base));
    }
    EXPECT_TRUE(sequencer.finished()) << most;
    for (uint32_t rank = 0; rank < kReplicas; ++rank) {
      EXPECT_NEAR(static_cast<double>(made[rank]), 1.0 * kSteps / kReplicas, 2) << rank;
    }
  }
}

TEST(BoundedStalenessTest, AGradientOfValuesThatNobodyHadIsDropped) {
  for (const int64_t base : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{1},
                             std::numeric_limits<int64_t>::max()}) {
    Sequencer sequencer = Bounded(2, 10);
    ASSERT_EQ(sequencer.Next(Rank(0)), 0);
    EXPECT_THAT(Kinds(sequencer.OnStaged(0, Push(Rank(0), 1, 0, base))),
                ElementsAre(Kind::kDrop)) << base;
    EXPECT_EQ(sequencer.Next(Rank(0)), 0) << base;
  }
}

TEST(BoundedStalenessTest, NoUpdateIsMadeAboveTheLastStepAndNobodyIsLeftWaiting) {
  // Of a synchronous cursor with gaps: more batches are open than steps are left.
  Sequencer sequencer({.committed = CommittedSet(3, {9, 10, 11}), .step = 2, .steps = 3,
                       .aggregate = 1, .max_staleness = 1});
  ASSERT_EQ(sequencer.Next(Rank(0)), 3);
  ASSERT_EQ(sequencer.Next(Rank(1)), 4);
  EXPECT_THAT(Kinds(sequencer.OnStaged(0, Push(Rank(1), 1, 4, 2))), ElementsAre(Kind::kCommit));
  EXPECT_EQ(sequencer.Next(Rank(1)), std::nullopt);
  EXPECT_THAT(Kinds(sequencer.OnStaged(0, Push(Rank(0), 1, 3, 2))), ElementsAre(Kind::kDrop));
  EXPECT_EQ(sequencer.step(), 3);
}

// Workers of uneven speed, shards that lag, connections that break, workers that die.
class World {
 public:
  static constexpr int64_t kBatches = 80;

  World(uint64_t seed, int shards, int workers, int64_t most)
      : random_(seed), most_(most), sequencer_(Bounded(most, kBatches, shards)),
        to_zero_(static_cast<size_t>(shards)), from_zero_(static_cast<size_t>(shards)) {
    for (int i = 0; i < shards; ++i) ledgers_.emplace_back(0);
    for (int i = 0; i < workers; ++i) {
      workers_.push_back({.pusher = Rank(static_cast<uint32_t>(i)),
                          .slowness = 1 + random_.Below(12)});
    }
  }

  // True when all batches are part of the model on every shard.
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
        if (random_.Below(10) == 0) Reconnect(random_.Below(ledgers_.size()));
        if (random_.Below(60) == 0) Kill(workers_[random_.Below(workers_.size())]);
        if (random_.Below(60) == 0) Break(workers_[random_.Below(workers_.size())]);
        break;
    }
    CheckThatWhoWaitsHasTo();
    return std::ranges::all_of(ledgers_,
                               [](const PushLedger& ledger) { return ledger.step() == kBatches; });
  }

  const std::vector<PushId>& committed() const { return committed_; }
  int waits() const { return waits_; }
  int drops() const { return drops_; }
  int64_t stalest() const { return stalest_; }

 private:
  struct Worker {
    Pusher pusher;
    uint64_t slowness = 1;
    uint64_t sequence = 0;
    std::optional<StagedPush> push;  // Computed, or being computed.
    uint64_t left = 0;               // Until it is computed.
  };

  void Work(Worker& worker) {
    if (!worker.push) {
      const auto batch = sequencer_.Next(worker.pusher);
      if (!batch) return;
      // The values of the shard that is furthest behind, but none from before its turn.
      int64_t base = sequencer_.step();
      for (const PushLedger& ledger : ledgers_) base = std::min(base, ledger.step());
      if (base < *sequencer_.OldestFor(worker.pusher)) return;  // It pulls again.
      worker.push = Push(worker.pusher, ++worker.sequence, *batch, base);
      worker.left = random_.Below(worker.slowness * 4);
      return;
    }
    if (worker.left > 0) {
      --worker.left;
      return;
    }
    const size_t shard = random_.Below(ledgers_.size());
    if (shard == 0) Broadcast(sequencer_.OnHere(worker.push->push));
    if (ledgers_[shard].OnPush(*worker.push) == Admission::kStaged) {
      to_zero_[shard].push_back(*worker.push);
    }
    for (const PushLedger& ledger : ledgers_) {
      if (ledger.settled(worker.pusher).sequence < worker.sequence) return;
    }
    worker.push.reset();
  }

  void Kill(Worker& worker) {
    Broadcast(sequencer_.OnFence(worker.pusher));
    worker = {.pusher = Rank(worker.pusher.rank, random_.Next()),
              .slowness = 1 + random_.Below(12)};
  }

  // It computes on, and comes by another connection.
  void Break(Worker& worker) { Broadcast(sequencer_.OnGone(worker.pusher)); }

  void DeliverStaged(size_t shard) {
    if (to_zero_[shard].empty()) return;
    const StagedPush staged = to_zero_[shard].front();
    to_zero_[shard].pop_front();
    told_[staged.push].insert(shard);
    Broadcast(sequencer_.OnStaged(static_cast<int>(shard), staged));
  }

  void DeliverDecision(size_t shard) {
    if (from_zero_[shard].empty()) return;
    const Decision decision = from_zero_[shard].front();
    from_zero_[shard].pop_front();
    ASSERT_THAT(ledgers_[shard].OnDecision(decision), IsOk());
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
    for (const Decision& decision : decisions) {
      decided_.insert(decision.push());
      if (decision.kind == Kind::kDrop) ++drops_;
      if (decision.kind != Kind::kCommit) continue;
      committed_.push_back(decision.push());
      for (const Worker& worker : workers_) {
        if (!worker.push || worker.push->push != decision.push()) continue;
        const int64_t staleness = decision.step - 1 - worker.push->base;
        ASSERT_LE(staleness, most_);
        stalest_ = std::max(stalest_, staleness);
      }
    }
    for (auto& stream : from_zero_) stream.insert(stream.end(), decisions.begin(), decisions.end());
  }

  bool IsUndecided(const Worker& worker) const {
    return worker.push && worker.left == 0 &&
           told_.contains(worker.push->push) &&
           told_.at(worker.push->push).size() == ledgers_.size() &&
           !decided_.contains(worker.push->push);
  }

  // Each that waits does so for one that is older. That it has to is staleness_gate_test's.
  void CheckThatWhoWaitsHasTo() {
    for (const Worker& worker : workers_) {
      if (!IsUndecided(worker) || sequencer_.finished()) continue;
      ++waits_;
      bool older = false;
      for (const Worker& other : workers_) {
        if (other.pusher == worker.pusher) continue;
        const std::optional<int64_t> turn = sequencer_.OldestFor(other.pusher);
        older = older || (turn && *turn < worker.push->base) ||
                (other.push && other.push->base < worker.push->base);
      }
      ASSERT_TRUE(older) << "the oldest waits";
    }
  }

  SeededRandom random_;
  const int64_t most_;
  Sequencer sequencer_;
  std::vector<PushLedger> ledgers_;
  std::vector<Worker> workers_;
  std::vector<PushId> committed_;
  std::set<PushId> decided_;
  std::map<PushId, std::set<size_t>> told_;
  std::vector<std::deque<StagedPush>> to_zero_;
  std::vector<std::deque<Decision>> from_zero_;
  int waits_ = 0, drops_ = 0;
  int64_t stalest_ = 0;
};

TEST(BoundedStalenessTest, NoGradientIsOlderThanAllowedAndEachBatchCountsOnceWhateverHappens) {
  constexpr int kTurnsMax = 2'000'000;
  int waits = 0, drops = 0, at_the_bound = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const auto most = static_cast<int64_t>(seed % 5);
    World world(seed, 1 + static_cast<int>(seed % 3), 2 + static_cast<int>(seed % 4), most);
    int turns = 0;
    while (!world.Turn()) {
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
      ASSERT_LT(++turns, kTurnsMax) << "seed " << seed;
    }
    std::set<int64_t> batches;
    for (const PushId& push : world.committed()) batches.insert(push.batch);
    EXPECT_EQ(batches.size(), static_cast<size_t>(World::kBatches)) << "seed " << seed;
    EXPECT_EQ(world.committed().size(), batches.size()) << "seed " << seed;
    waits += world.waits();
    drops += world.drops();
    at_the_bound += world.stalest() == most ? 1 : 0;
  }
  // The schedules come to what they are about.
  EXPECT_GT(waits, 1'000);
  EXPECT_GT(drops, 10);
  EXPECT_GT(at_the_bound, 100);
}

}  // namespace
}  // namespace taas::ps
