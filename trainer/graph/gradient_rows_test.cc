#include "trainer/graph/gradient_rows.h"

#include <array>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Stretch = std::array<size_t, 3>;

std::vector<Stretch> RunsOf(const std::vector<int32_t>& ids, size_t width) {
  std::vector<Stretch> runs;
  ForRowRuns({.width = width, .ids = ids}, [&](const RowRun& run) {
    runs.push_back({run.at, run.packed, run.count});
  });
  return runs;
}

TEST(GradientRowsTest, RowsNextToEachOtherAreOneRun) {
  EXPECT_THAT(RunsOf({}, 3), IsEmpty());
  EXPECT_THAT(RunsOf({4}, 3), ElementsAre(Stretch{12, 0, 3}));
  EXPECT_THAT(RunsOf({0, 1, 2}, 5), ElementsAre(Stretch{0, 0, 15}));
  EXPECT_THAT(RunsOf({1, 2, 4, 7, 8}, 3),
              ElementsAre(Stretch{3, 0, 6}, Stretch{12, 6, 3}, Stretch{21, 9, 6}));
}

TEST(GradientRowsTest, PartsAreTheRowsListedOrAll) {
  std::vector<float> gradient(12);
  const std::vector<int32_t> ids = {0, 2};
  std::vector<std::span<float>> parts;
  AddParts(gradient, GradientRows{.width = 4, .ids = ids}, &parts);
  AddParts(gradient, std::nullopt, &parts);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].data(), gradient.data());
  EXPECT_EQ(parts[0].size(), 4u);
  EXPECT_EQ(parts[1].data(), gradient.data() + 8);
  EXPECT_EQ(parts[2].size(), 12u);
}

TEST(GradientRowsTest, UnitedListsAreOneAscendingList) {
  const std::vector<int32_t> a = {1, 5, 9}, b = {0, 5}, none;
  const std::span<const int32_t> lists[] = {a, none, b};
  std::vector<int32_t> united = {77};
  UniteRows(lists, &united);
  EXPECT_THAT(united, ElementsAre(0, 1, 5, 9));
  UniteRows({}, &united);
  EXPECT_THAT(united, IsEmpty());
}

}  // namespace
}  // namespace taas
