#include "trainer/data/generated/generated_clicks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using ::testing::HasSubstr;
using Code = absl::StatusCode;

FeatureColumns Columns(const std::string& json) {
  auto columns = FeatureColumns::Parse(nlohmann::json::parse(json), "columns");
  EXPECT_THAT(columns, IsOk());
  return *std::move(columns);
}

FeatureColumns Numbers() {
  return Columns(R"([{"name": "age", "type": "numeric"},
                     {"name": "hour", "type": "identity", "buckets": 24},
                     {"name": "site", "type": "hashed", "buckets": 100000}])");
}

TEST(GeneratedClicksTest, TestSetsShareTheTruthNotTheExamples) {
  const FeatureColumns columns = Numbers();
  const auto all = GenerateClicks({.seed = 3, .examples = 20}, columns);
  const auto rest = GenerateClicks({.seed = 3, .first = 15, .examples = 5}, columns);
  const auto other = GenerateClicks({.seed = 4, .examples = 20}, columns);
  ASSERT_THAT(all, IsOk());
  struct Row {
    float age = 0;
    std::array<int64_t, 2> ids{};

    bool operator==(const Row&) const = default;
  };
  const auto row_of = [](const Dataset& set, int64_t index) {
    Row row;
    GatherRows(set, {&index, 1}, {.features = {&row.age, 1}, .ids = row.ids});
    return row;
  };
  EXPECT_EQ(row_of(all->set, 16), row_of(rest->set, 1));
  EXPECT_NE(row_of(all->set, 16), row_of(other->set, 16));
  EXPECT_TRUE(std::ranges::equal(all->set.labels().subspan(15), rest->set.labels()));
}

// What the table of relative frequencies says of the pairs of site and ad, with so many examples
// that each is known well, must be better than what knows nothing and no better than the truth.
TEST(GeneratedClicksTest, NoModelBeatsTheBestLoss) {
  const FeatureColumns columns = Columns(R"([
      {"name": "site", "type": "hashed", "buckets": 100000},
      {"name": "ad", "type": "hashed", "buckets": 100000}])");
  constexpr int64_t kExamples = 100'000;
  const auto clicks = GenerateClicks({.seed = 1, .examples = kExamples}, columns);
  ASSERT_THAT(clicks, IsOk());
  std::map<std::array<int64_t, 2>, std::array<double, 2>> counts;
  std::array<double, 2> all{};
  for (int64_t i = 0; i < kExamples; ++i) {
    std::array<int64_t, 2> row{};
    clicks->set.GatherIds(std::array{i}, row.data());
    const size_t label = static_cast<size_t>(clicks->set.labels()[static_cast<size_t>(i)]);
    ++counts[row][label];
    ++all[label];
  }
  EXPECT_EQ(std::ssize(counts), kClickAds * kClickSites);
  const auto loss_of = [](const std::array<double, 2>& count) {
    double loss = 0;
    for (const double n : count) loss -= n > 0 ? n * std::log(n / (count[0] + count[1])) : 0;
    return loss;
  };
  double by_pairs = 0;
  for (const auto& [pair, count] : counts) by_pairs += loss_of(count) / kExamples;
  EXPECT_GT(loss_of(all) / kExamples, 1.1 * clicks->best_loss);
  EXPECT_LT(by_pairs, 0.95 * loss_of(all) / kExamples);
  EXPECT_GT(by_pairs, clicks->best_loss);
}

TEST(GeneratedClicksTest, AColumnOfNothingIsNamed) {
  EXPECT_THAT(GenerateClicks({.examples = 1}, Columns(R"([{"name": "mood", "type": "numeric"}])")),
              StatusIs(Code::kInvalidArgument,
                       HasSubstr("no feature \"mood\"; they have ad, age, hour, income, site")));
}

}  // namespace
}  // namespace taas
