#include "third_party/json.h"
#include "trainer/status/series.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::HasSubstr;
using nlohmann::json;

std::vector<int64_t> StepsOf(const Series& series) {
  std::vector<int64_t> steps;
  for (const Series::Point& point : series.Points("loss")) steps.push_back(point.step);
  return steps;
}

TEST(SeriesTest, JsonIsThatOfTheContract) {
  Series series;
  series.Add("loss", {.step = 100, .wall_seconds = 1.5, .value = 0.5});
  series.Add("loss", {.step = 200, .wall_seconds = 2.5, .value = 0.25});
  series.Add("accuracy", {.step = 200, .wall_seconds = 2.5, .value = 0.75});
  EXPECT_EQ(json::parse(*series.Json("")), json::parse(R"({"series":{
      "loss":[[100,1.5,0.5],[200,2.5,0.25]],"accuracy":[[200,2.5,0.75]]}})"));
  EXPECT_EQ(json::parse(*series.Json("since=100")), json::parse(R"({"series":{
      "loss":[[200,2.5,0.25]],"accuracy":[[200,2.5,0.75]]}})"));
  EXPECT_EQ(json::parse(*Series().Json("")), json::parse(R"({"series":{}})"));
}

TEST(SeriesTest, QueryThatIsNoneIsRefusedWithASentence) {
  for (const char* query : {"since=", "since=x", "until=5", "since=5&a=b"}) {
    EXPECT_THAT(Series().Json(query),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("?since=STEP")))
        << query;
  }
}

TEST(SeriesTest, LongCurveIsThinnedEvenlyAndKeepsItsEnds) {
  Series series;
  constexpr int64_t kAdded = 1'000'000;
  for (int64_t step = 1; step <= kAdded; ++step) series.Add("loss", {.step = step, .value = 1});
  const std::vector<int64_t> steps = StepsOf(series);
  EXPECT_LE(steps.size(), Series::kPointsMax + 1);
  EXPECT_GE(steps.size(), Series::kPointsMax / 2);
  EXPECT_EQ(steps.front(), 1);
  EXPECT_EQ(steps.back(), kAdded);
  const int64_t gap = steps[1] - steps[0];
  for (size_t i = 1; i + 1 < steps.size(); ++i) ASSERT_EQ(steps[i] - steps[i - 1], gap) << i;
}

TEST(SeriesTest, StepsThatWereGivenUpAreForgotten) {
  Series series;
  for (int64_t step = 1; step <= 10; ++step) series.Add("loss", {.step = step, .value = 1});
  series.DropFrom(6);
  EXPECT_EQ(StepsOf(series), (std::vector<int64_t>{1, 2, 3, 4, 5}));
  series.Add("loss", {.step = 6, .value = 2});
  EXPECT_EQ(series.Points("loss").back().value, 2);
}

TEST(SeriesTest, ValueThatIsNoNumberIsLeftOut) {
  Series series;
  series.Add("loss", {.step = 1, .value = std::numeric_limits<double>::quiet_NaN()});
  EXPECT_TRUE(series.Points("loss").empty());
}

TEST(SeriesTest, NumberOfCurvesIsBounded) {
  Series series;
  for (int i = 0; i < 1'000; ++i) series.Add("curve" + std::to_string(i), {.step = 1});
  EXPECT_LT(json::parse(*series.Json(""))["series"].size(), 100u);
}

}  // namespace
}  // namespace taas
