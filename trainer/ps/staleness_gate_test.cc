#include "trainer/ps/staleness_gate.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/random.h"

namespace taas::ps {
namespace {

StalenessGate::Gradient Of(uint32_t rank) { return {.pusher = {rank, 1, 1}, .batch = rank}; }

// With the bases of ranks 0, 1, …
StalenessGate Gate(int64_t most, const std::vector<int64_t>& bases) {
  StalenessGate gate(most);
  for (uint32_t rank = 0; rank < bases.size(); ++rank) gate.Begin(Of(rank), bases[rank]);
  return gate;
}

TEST(StalenessGateTest, AsManyBeginAsAreInTimeOneAfterTheOther) {
  EXPECT_TRUE(Gate(0, {}).MayBegin());
  EXPECT_FALSE(Gate(0, {5}).MayBegin());
  EXPECT_TRUE(Gate(2, {5, 5}).MayBegin());
  EXPECT_FALSE(Gate(2, {5, 5, 5}).MayBegin());
  StalenessGate gate = Gate(1, {5, 5});
  gate.GiveUp(Of(0));
  EXPECT_TRUE(gate.MayBegin());
  gate.EndBatch(1);
  EXPECT_EQ(gate.outstanding(), 0u);
}

TEST(StalenessGateTest, AFastOneWaitsWhereASlowOneWouldComeTooLate) {
  // Rank 0 began at step 0; the others have made updates since.
  EXPECT_TRUE(Gate(3, {0, 2}).MayApply(Of(1), 2)) << "rank 0 may be the fourth";
  EXPECT_FALSE(Gate(3, {0, 3}).MayApply(Of(1), 3));
  EXPECT_TRUE(Gate(3, {0, 3}).MayApply(Of(0), 3)) << "the oldest never waits";
  EXPECT_FALSE(Gate(3, {0, 0, 2}).MayApply(Of(2), 2)) << "ranks 0 and 1 need two updates";
}

// Three replicas that all were at step 0 with a bound of 1 waited for each other without end.
TEST(StalenessGateTest, TheOldestGoesThoughOthersCannotBeInTimeAnyMore) {
  const StalenessGate gate = Gate(1, {0, 0, 0});
  EXPECT_TRUE(gate.MayApply(Of(2), 0));
  // One that is late holds up nobody.
  EXPECT_TRUE(Gate(1, {0, 2}).MayApply(Of(1), 2));
}

bool AllInTime(const StalenessGate& gate, std::vector<int64_t> bases, int64_t step) {
  std::ranges::sort(bases);
  do {
    bool in_time = true;
    for (size_t i = 0; i < bases.size(); ++i) {
      in_time = in_time && gate.InTime(bases[i], step + static_cast<int64_t>(i));
    }
    if (in_time) return true;
  } while (std::ranges::next_permutation(bases).found);
  return bases.empty();
}

TEST(StalenessGateTest, WhoWaitsWouldMakeAnotherLateInWhateverOrderTheRestGoes) {
  SeededRandom random(7);
  int waited = 0, went = 0;
  for (int round = 0; round < 20'000; ++round) {
    const auto most = static_cast<int64_t>(random.Below(5));
    const int64_t step = 10;
    std::vector<int64_t> bases(1 + random.Below(5));
    for (int64_t& base : bases) base = step - static_cast<int64_t>(random.Below(
                                                  static_cast<uint64_t>(most) + 1));
    const StalenessGate gate = Gate(most, bases);
    std::vector<int64_t> rest(bases.begin() + 1, bases.end());
    const bool is_oldest = std::ranges::min(bases) == bases[0];
    const bool may = is_oldest || AllInTime(gate, rest, step + 1);
    ASSERT_EQ(gate.MayApply(Of(0), step), may) << "round " << round;
    ++(may ? went : waited);
  }
  EXPECT_GT(waited, 1'000);
  EXPECT_GT(went, 1'000);
}

TEST(StalenessGateTest, WhoKeepsToItIsNeverLate) {
  SeededRandom random(11);
  for (int64_t most = 0; most < 6; ++most) {
    StalenessGate gate(most);
    int64_t step = 0;
    std::vector<uint32_t> under_way;
    for (int turn = 0; turn < 5'000; ++turn) {
      const auto rank = static_cast<uint32_t>(random.Below(8));
      const auto found = std::ranges::find(under_way, rank);
      if (found == under_way.end()) {
        if (!gate.MayBegin()) continue;
        gate.Begin(Of(rank), step);
        under_way.push_back(rank);
      } else if (gate.MayApply(Of(rank), step)) {
        ASSERT_TRUE(gate.InTime(*gate.base(Of(rank)), step)) << "at most " << most;
        gate.EndBatch(rank);
        under_way.erase(found);
        ++step;
      }
    }
    EXPECT_GT(step, 500) << "at most " << most;
  }
}

}  // namespace
}  // namespace taas::ps
