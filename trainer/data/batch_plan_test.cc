#include "trainer/data/batch_plan.h"

#include <algorithm>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace taas {
namespace {

std::vector<int64_t> Epoch(const BatchPlan& plan, int64_t examples, int64_t epoch) {
  std::vector<int64_t> indices(examples);
  for (int64_t i = 0; i < examples; ++i) indices[i] = plan.IndexAt(epoch * examples + i);
  return indices;
}

TEST(BatchPlanTest, EveryEpochHasEveryExampleExactlyOnce) {
  for (const int64_t examples : {1, 2, 3, 4, 5, 7, 16, 17, 100, 1000, 4096, 4097, 9000}) {
    const BatchPlan plan({.seed = 3, .examples = examples, .batch_size = 1});
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<int64_t> indices = Epoch(plan, examples, epoch);
      std::ranges::sort(indices);
      for (int64_t i = 0; i < examples; ++i) ASSERT_EQ(indices[i], i) << examples << "/" << epoch;
    }
  }
}

TEST(BatchPlanTest, BatchesCoverTheStreamAlsoAcrossTheEndOfAnEpoch) {
  const BatchPlan plan({.seed = 1, .examples = 10, .batch_size = 4});
  std::multiset<int64_t> seen;
  for (int64_t batch = 0; batch < 5; ++batch) {  // 20 positions: two epochs.
    std::vector<int64_t> indices(4);
    plan.Indices(batch, indices);
    for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(indices[i], plan.IndexAt(batch * 4 + i));
    seen.insert(indices.begin(), indices.end());
  }
  for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(seen.count(i), 2u) << i;
  EXPECT_EQ(plan.EpochOf(2), 0);
  EXPECT_EQ(plan.EpochOf(3), 1);
  EXPECT_EQ(plan.EpochAt(9), 0);
  EXPECT_EQ(plan.EpochAt(10), 1);
}

TEST(BatchPlanTest, BatchLargerThanTheDataSetRepeatsIt) {
  const BatchPlan plan({.seed = 1, .examples = 3, .batch_size = 9});
  std::vector<int64_t> indices(9);
  plan.Indices(0, indices);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(std::ranges::count(indices, i), 3);
}

TEST(BatchPlanTest, EpochsAndSeedsDiffer) {
  const BatchPlan one({.seed = 1, .examples = 1000, .batch_size = 1});
  const BatchPlan two({.seed = 2, .examples = 1000, .batch_size = 1});
  EXPECT_NE(Epoch(one, 1000, 0), Epoch(one, 1000, 1));
  EXPECT_NE(Epoch(one, 1000, 0), Epoch(two, 1000, 0));
}

TEST(BatchPlanTest, SameSeedGivesTheSamePlanEverywhere) {
  const BatchPlan plan({.seed = 42, .examples = 9000, .batch_size = 100});
  const BatchPlan again({.seed = 42, .examples = 9000, .batch_size = 100});
  EXPECT_EQ(Epoch(plan, 9000, 7), Epoch(again, 9000, 7));
}

// Each of 10 examples should stand at each of 10 places in a tenth of all epochs.
TEST(BatchPlanTest, OverManyEpochsEveryPlaceSeesEveryExampleEquallyOften) {
  constexpr int64_t kExamples = 10;
  constexpr int64_t kEpochs = 20'000;
  const BatchPlan plan({.seed = 5, .examples = kExamples, .batch_size = 1});
  int64_t counts[kExamples][kExamples] = {};
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    for (int64_t i = 0; i < kExamples; ++i) ++counts[i][plan.IndexAt(epoch * kExamples + i)];
  }
  // Standard deviation is 42; five of them would be met by chance once in a million counts.
  for (const auto& row : counts) {
    for (const int64_t count : row) EXPECT_NEAR(static_cast<double>(count), 2000, 212);
  }
}

// Neighbours in the data (often of one class) must not stay neighbours.
TEST(BatchPlanTest, NeighboursAreTornApart) {
  const BatchPlan plan({.seed = 9, .examples = 9000, .batch_size = 1});
  const std::vector<int64_t> indices = Epoch(plan, 9000, 0);
  int64_t close = 0;
  for (size_t i = 1; i < indices.size(); ++i) {
    close += std::abs(indices[i] - indices[i - 1]) < 90 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(close), 180, 70);  // 2 % of all pairs, by chance.
}

// Ten examples to a block; of 1,003 the last block has three.
BatchPlan Windowed(int64_t examples, int64_t per_window, int64_t batch_size = 1) {
  return BatchPlan({.seed = 4,
                    .examples = examples,
                    .batch_size = batch_size,
                    .blocks = {.examples = 10, .per_window = per_window}});
}

TEST(BatchPlanTest, EveryEpochOfBlocksHasEveryExampleExactlyOnce) {
  for (const int64_t examples : {1, 9, 10, 11, 19, 20, 21, 100, 101, 1003, 4096}) {
    for (const int64_t per_window : {1, 2, 3, 7, 64, 1000}) {
      const BatchPlan plan = Windowed(examples, per_window);
      for (int64_t epoch = 0; epoch < 3; ++epoch) {
        std::vector<int64_t> indices = Epoch(plan, examples, epoch);
        std::ranges::sort(indices);
        for (int64_t i = 0; i < examples; ++i) {
          ASSERT_EQ(indices[i], i) << examples << " in " << per_window << ", epoch " << epoch;
        }
      }
    }
  }
}

TEST(BatchPlanTest, EachExampleComesFromABlockOfItsWindow) {
  const BatchPlan plan = Windowed(1003, 7);
  int64_t largest = 0;
  for (int64_t position = 0; position < 3 * 1003; ++position) {
    const int64_t window = plan.WindowAt(position);
    const std::vector<int64_t> blocks = plan.BlocksOf(window);
    ASSERT_EQ(std::ranges::count(blocks, plan.IndexAt(position) / 10), 1) << position;
    ASSERT_LE(std::ssize(blocks), 7);
    // They do not come back, and leave none out.
    ASSERT_TRUE(window == largest || window == largest + 1) << position;
    largest = std::max(largest, window);
  }
  EXPECT_EQ(largest, 3 * 15 - 1);  // 101 blocks in 15 windows an epoch.
}

TEST(BatchPlanTest, BatchesOfBlocksAreTheStreamAcrossWindowsAndEpochs) {
  const BatchPlan plan = Windowed(1003, 2, 64);
  for (int64_t batch = 0; batch < 40; ++batch) {
    std::vector<int64_t> indices(64);
    plan.Indices(batch, indices);
    for (int64_t i = 0; i < 64; ++i) {
      ASSERT_EQ(indices[i], plan.IndexAt(batch * 64 + i)) << batch << ", " << i;
    }
  }
}

TEST(BatchPlanTest, BlocksDoNotStayNeighbours) {
  const BatchPlan plan = Windowed(10'000, 50);
  const std::vector<int64_t> first = plan.BlocksOf(0);
  EXPECT_NE(first, plan.BlocksOf(plan.WindowAt(10'000)));  // Another epoch, another order.
  // From all over the data: of 50 of 1,000 blocks, some are in each fifth.
  for (int64_t fifth = 0; fifth < 5; ++fifth) {
    EXPECT_GT(std::ranges::count_if(first, [&](int64_t block) { return block / 200 == fifth; }), 2);
  }
}

// A batch of 100 out of 50 blocks has about as many of them as by chance: 50 · (1 - 0.98^100).
TEST(BatchPlanTest, ABatchMixesTheBlocksOfItsWindow) {
  const BatchPlan plan = Windowed(10'000, 50, 100);
  for (int64_t batch = 0; batch < 100; ++batch) {
    std::vector<int64_t> indices(100);
    plan.Indices(batch, indices);
    std::set<int64_t> blocks;
    for (const int64_t index : indices) blocks.insert(index / 10);
    EXPECT_GE(blocks.size(), 35u) << batch;
  }
}

// Also the last block, which is short, and has a place of its own.
TEST(BatchPlanTest, OverManyEpochsEveryExampleComesEarlyAndLate) {
  constexpr int64_t kExamples = 43;
  constexpr int64_t kEpochs = 4'000;
  const BatchPlan plan = Windowed(kExamples, 2);
  std::vector<double> sums(kExamples);
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    for (int64_t i = 0; i < kExamples; ++i) {
      sums[plan.IndexAt(epoch * kExamples + i)] += static_cast<double>(i);
    }
  }
  // The mean place is 21; its standard deviation over so many epochs is 0.2.
  for (const double sum : sums) EXPECT_NEAR(sum / kEpochs, 21, 1.2);
}

}  // namespace
}  // namespace taas
