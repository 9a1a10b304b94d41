// Updates by a gradient that lists its rows beside those by the whole gradient: the same bits.

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/optimizer/optimizer.h"

namespace taas {
namespace {

constexpr size_t kRows = 53;
constexpr int kSteps = 100;

// What an optimizer has of a variable; a second buffer for updates out of place.
struct Trained {
  std::vector<std::vector<float>> arrays, next;  // The variable, then its slots.

  Trained(const Optimizer& optimizer, const std::vector<float>& start) : arrays{start} {
    for (size_t slot = 0; slot < optimizer.slots().size(); ++slot) {
      arrays.emplace_back(start.size(), optimizer.slot_start(slot));
    }
    next = arrays;
  }

  void Apply(const Optimizer& optimizer, std::span<const float> gradient,
             const std::optional<GradientRows>& rows, int64_t step, bool in_place) {
    std::vector<std::vector<float>>& out = in_place ? arrays : next;
    if (rows && optimizer.KeepsZeros(step)) {
      next = arrays;  // As the caller has to.
    } else {
      for (std::vector<float>& array : next) std::ranges::fill(array, 77.0f);
    }
    optimizer.Apply({.gradient = gradient,
                     .in = arrays[0],
                     .out = out[0],
                     .slots_in = std::vector<std::span<const float>>(arrays.begin() + 1,
                                                                     arrays.end()),
                     .slots_out = std::vector<std::span<float>>(out.begin() + 1, out.end()),
                     .step = step,
                     .rows = rows});
    if (!in_place) std::swap(arrays, next);
  }
};

struct RowGradient {
  std::vector<float> whole, packed;
  std::vector<int32_t> ids;
};

// Of `most` lookups at random: none in some steps, nearly all rows in others.
RowGradient RandomGradient(SeededRandom& random, size_t width, uint64_t most) {
  std::set<int32_t> ids;
  for (uint64_t i = random.Below(most); i > 0; --i) {
    ids.insert(static_cast<int32_t>(random.Below(kRows)));
  }
  RowGradient gradient{.whole = std::vector<float>(kRows * width), .packed = {}, .ids = {}};
  for (const int32_t id : ids) {
    gradient.ids.push_back(id);
    for (size_t i = 0; i < width; ++i) {
      const float g = static_cast<float>(2 * random.Unit() - 1);
      gradient.whole[static_cast<size_t>(id) * width + i] = g;
      gradient.packed.push_back(g);
    }
  }
  return gradient;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

struct RuleCase {
  const char* name;
  OptimizerOptions options;
  // Of the hundred updates: those that touch the rows listed only.
  int by_rows;
};

class RowUpdatesTest : public testing::TestWithParam<RuleCase> {};

TEST_P(RowUpdatesTest, AHundredUpdatesByRowsAreThoseByTheWholeGradientToTheBit) {
  const auto optimizer = Optimizer::Make(GetParam().options);
  ASSERT_THAT(optimizer, IsOk());
  for (const size_t width : {1, 3, 8, 16, 17, 67}) {
    SeededRandom random(width);
    std::vector<float> start(kRows * width);
    for (float& value : start) value = static_cast<float>(2 * random.Unit() - 1);
    start[0] = -0.0f;
    Trained whole(**optimizer, start), rows(**optimizer, start), packed(**optimizer, start);
    int by_rows = 0;
    for (int step = 1; step <= kSteps; ++step) {
      const RowGradient gradient = RandomGradient(random, width, step % 10 == 0 ? 300 : 12);
      const GradientRows list{.width = width, .ids = gradient.ids};
      const bool keeps = (*optimizer)->KeepsZeros(step);
      by_rows += keeps ? 1 : 0;
      whole.Apply(**optimizer, gradient.whole, std::nullopt, step, /*in_place=*/true);
      rows.Apply(**optimizer, gradient.whole, list, step, /*in_place=*/true);
      packed.Apply(**optimizer, keeps ? gradient.packed : gradient.whole, list, step,
                   /*in_place=*/step % 2 == 0);
      for (size_t i = 0; i < whole.arrays.size(); ++i) {
        ASSERT_TRUE(SameBits(whole.arrays[i], rows.arrays[i])) << width << ", step " << step;
        ASSERT_TRUE(SameBits(whole.arrays[i], packed.arrays[i])) << width << ", step " << step;
      }
    }
    EXPECT_EQ(by_rows, GetParam().by_rows);
  }
}

LearningRate Staircase() {
  return {.start = 0.1,
          .decay = DecayType::kStep,
          .boundaries = {30, 60},
          .rates = {0.05, 0.01}};
}

INSTANTIATE_TEST_SUITE_P(
    Table, RowUpdatesTest,
    testing::Values(
        RuleCase{"Sgd", {.name = "sgd", .learning_rate = {.start = 0.1}}, 100},
        RuleCase{"SgdOfChangingRate", {.name = "sgd", .learning_rate = Staircase()}, 100},
        RuleCase{"SgdWithAverage",
                 {.name = "sgd", .learning_rate = {.start = 0.1}, .average_decay = 0.9},
                 0},
        RuleCase{"Adagrad", {.name = "adagrad", .learning_rate = {.start = 0.1}}, 100},
        RuleCase{"Ftrl", {.name = "ftrl", .learning_rate = {.start = 0.1}}, 99},
        RuleCase{"FtrlWithPenalties",
                 {.name = "ftrl", .learning_rate = {.start = 0.1}, .l1 = 0.3, .l2 = 0.1},
                 99},
        // At the first update and at each that has another rate the whole variable is made anew.
        RuleCase{"FtrlOfChangingRate", {.name = "ftrl", .learning_rate = Staircase()}, 97},
        RuleCase{"FtrlOfAnotherPower",
                 {.name = "ftrl", .learning_rate = {.start = 0.1}, .learning_rate_power = -0.3},
                 0},
        RuleCase{"Momentum", {.name = "momentum", .learning_rate = {.start = 0.1}}, 0},
        RuleCase{"Adam", {.name = "adam", .learning_rate = {.start = 0.1}}, 0},
        RuleCase{"RmsProp", {.name = "rmsprop", .learning_rate = {.start = 0.1}}, 0}),
    [](const auto& info) { return std::string(info.param.name); });

// After a restart with another rate rows that were not looked up at the first step kept what the
// rate before had made of them: pushes of rows and of whole gradients gave different models.
TEST(RowUpdatesTest, FtrlMakesAllRowsAnewAtTheFirstUpdateAfterARestart) {
  const auto before =
      Optimizer::Make({.name = "ftrl", .learning_rate = {.start = 0.1}});
  const auto after = Optimizer::Make({.name = "ftrl", .learning_rate = {.start = 0.7}});
  ASSERT_THAT(before, IsOk());
  ASSERT_THAT(after, IsOk());
  Trained whole(**before, {1, 1}), rows(**before, {1, 1});
  const std::vector<float> both = {0.5f, -0.25f};
  for (int step = 1; step <= 3; ++step) {
    whole.Apply(**before, both, std::nullopt, step, true);
    rows.Apply(**before, both, std::nullopt, step, true);
  }
  (*after)->StartAfter(3);
  EXPECT_FALSE((*after)->KeepsZeros(4));
  EXPECT_TRUE((*after)->KeepsZeros(5));
  const std::vector<float> first = {0.5f, 0};
  const std::vector<int32_t> ids = {0};
  whole.Apply(**after, first, std::nullopt, 4, true);
  rows.Apply(**after, first, GradientRows{.width = 1, .ids = ids}, 4, true);
  EXPECT_TRUE(SameBits(whole.arrays[0], rows.arrays[0]));
}

// A momentum goes on where no gradient comes: leaving such rows alone would be another rule.
TEST(RowUpdatesTest, MomentumMovesRowsThatAreNotListed) {
  const auto momentum = Optimizer::Make(
      {.name = "momentum", .learning_rate = {.start = 1}, .momentum = 0.5});
  ASSERT_THAT(momentum, IsOk());
  Trained trained(**momentum, {1, 1});
  const std::vector<float> gradient = {0, 0};
  trained.arrays[1] = {0, 4};
  trained.Apply(**momentum, gradient, GradientRows{.width = 1, .ids = {}}, 1, true);
  EXPECT_EQ(trained.arrays[0], (std::vector<float>{1, -1}));
}

}  // namespace
}  // namespace taas
