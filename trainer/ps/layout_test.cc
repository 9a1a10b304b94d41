#include "trainer/ps/layout.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/random.h"

namespace taas::ps {
namespace {

int64_t Largest(const Layout& layout) {
  int64_t largest = 0;
  for (size_t i = 0; i < layout.shards.size(); ++i) {
    largest = std::max(largest, layout.elements(static_cast<int>(i)));
  }
  return largest;
}

// Each element of each variable is in exactly one piece.
void ExpectPartition(const std::vector<VariableSize>& variables, const Layout& layout) {
  std::vector<std::vector<int>> seen;
  for (const VariableSize& variable : variables) {
    seen.emplace_back(static_cast<size_t>(variable.elements), 0);
  }
  for (const auto& pieces : layout.shards) {
    for (const Piece& piece : pieces) {
      for (int64_t i = 0; i < piece.count; ++i) {
        ++seen[static_cast<size_t>(piece.variable)][static_cast<size_t>(piece.offset + i)];
      }
    }
  }
  for (const auto& elements : seen) {
    EXPECT_TRUE(std::all_of(elements.begin(), elements.end(), [](int n) { return n == 1; }));
  }
}

TEST(LayoutTest, MlpOfTheMainJobIsSplitWithinTwoPercent) {
  const std::vector<VariableSize> mlp = {{784 * 500, 784}, {500, 500}, {5000, 500}, {10, 10}};
  const Layout layout = SplitByBytes(mlp, 2);
  ExpectPartition(mlp, layout);
  EXPECT_LT(Largest(layout), (784 * 500 + 500 + 5000 + 10) / 2 * 102 / 100);
}

TEST(LayoutTest, OneShardHoldsAllAsItIs) {
  const Layout layout = SplitByBytes({{1000000, 1000}, {7, 7}}, 1);
  EXPECT_EQ(layout.shards[0], (std::vector<Piece>{{0, 0, 1000000}, {1, 0, 7}}));
}

TEST(LayoutTest, BlocksBeginAtRows) {
  const Layout layout = SplitByBytes({{10'007 * 13, 10'007}}, 3);
  for (const auto& pieces : layout.shards) {
    for (const Piece& piece : pieces) EXPECT_EQ(piece.offset % 13, 0);
  }
}

TEST(LayoutTest, VariableOfFewerRowsThanShardsStaysWhole) {
  const Layout layout = SplitByBytes({{1'000'000, 2}}, 3);
  EXPECT_EQ(Largest(layout), 1'000'000);
}

TEST(LayoutTest, RandomModelsArePartitionedAndBalanced) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SeededRandom random(seed);
    const int shards = 1 + static_cast<int>(random.Below(7));
    std::vector<VariableSize> variables;
    int64_t total = 0;
    for (uint64_t i = 0, n = 1 + random.Below(12); i < n; ++i) {
      const int64_t rows = static_cast<int64_t>(8 + random.Below(300));
      const int64_t width = static_cast<int64_t>(1 + random.Below(300));
      variables.push_back({rows * width, rows});
      total += rows * width;
    }
    const Layout layout = SplitByBytes(variables, shards);
    ExpectPartition(variables, layout);
    // Fair part, one uncut variable, and a row of each cut one.
    const int64_t slack = std::max(total / shards / kCutShare, kCutBytesMin / 4) + 300 * 12;
    EXPECT_LE(Largest(layout), total / shards + slack) << "seed " << seed;
  }
}

TEST(LayoutTest, WhatIsMovedLiesBehindWhatIsTrained) {
  const Layout layout = SplitByBytes({{3, 3}, {4, 4, 0.5f}, {5, 5}, {6, 6, 0.25f}}, 1);
  EXPECT_EQ(layout.shards[0],
            (std::vector<Piece>{{0, 0, 3}, {2, 0, 5}, {1, 0, 4, 0.5f}, {3, 0, 6, 0.25f}}));
}

}  // namespace
}  // namespace taas::ps
