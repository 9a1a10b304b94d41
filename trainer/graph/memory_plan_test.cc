#include "trainer/graph/memory_plan.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "operator/base/random.h"

namespace taas {
namespace {

constexpr size_t kAlignment = 64;

TEST(MemoryPlanTest, NothingNeedsNothing) {
  const MemoryPlan plan = PlanMemory({}, kAlignment);
  EXPECT_EQ(plan.bytes, 0u);
}

TEST(MemoryPlanTest, TensorsAfterEachOtherShareBytes) {
  const Lifetime tensors[] = {{100, 0, 1}, {100, 2, 3}, {100, 4, 5}};
  const MemoryPlan plan = PlanMemory(tensors, kAlignment);
  EXPECT_EQ(plan.bytes, 128u);
}

TEST(MemoryPlanTest, TensorsAliveTogetherDoNot) {
  const Lifetime tensors[] = {{64, 0, 1}, {64, 1, 2}};
  const MemoryPlan plan = PlanMemory(tensors, kAlignment);
  EXPECT_EQ(plan.bytes, 128u);
  EXPECT_NE(plan.offsets[0], plan.offsets[1]);
}

TEST(MemoryPlanTest, AGapBetweenLivingTensorsIsFilled) {
  // The first two leave their bytes; the third goes there although the fourth lies above.
  const Lifetime tensors[] = {{256, 0, 1}, {128, 2, 9}, {64, 2, 9}, {512, 0, 9}};
  EXPECT_EQ(PlanMemory(tensors, kAlignment).bytes, 512u + 256u);
}

// Seeds are fixed: the test states a property, not an experiment.
TEST(MemoryPlanTest, RandomTensorsNeverOverlapWhileAlive) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SeededRandom random(seed);
    const size_t alignment = seed % 2 == 0 ? 64 : 256;
    std::vector<Lifetime> tensors(random.Below(40));
    size_t all = 0;
    for (Lifetime& tensor : tensors) {
      tensor.bytes = random.Below(5000);
      tensor.first = static_cast<int>(random.Below(30));
      tensor.last = tensor.first + static_cast<int>(random.Below(10));
      all += tensor.bytes + alignment;
    }
    const MemoryPlan plan = PlanMemory(tensors, alignment);
    EXPECT_LE(plan.bytes, all) << "seed " << seed;
    for (size_t i = 0; i < tensors.size(); ++i) {
      EXPECT_EQ(plan.offsets[i] % alignment, 0u);
      EXPECT_LE(plan.offsets[i] + tensors[i].bytes, plan.bytes);
      for (size_t j = 0; j < i; ++j) {
        const bool together =
            tensors[i].first <= tensors[j].last && tensors[j].first <= tensors[i].last;
        const bool apart = plan.offsets[i] + tensors[i].bytes <= plan.offsets[j] ||
                           plan.offsets[j] + tensors[j].bytes <= plan.offsets[i];
        EXPECT_TRUE(!together || apart) << "seed " << seed << ": " << i << " and " << j;
      }
    }
  }
}

}  // namespace
}  // namespace taas
