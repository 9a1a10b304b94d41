#include "dashboard/events/histogram_routes.h"

#include "dashboard/events/fake_events.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fake_directory.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using nlohmann::json;
using Query = std::vector<std::pair<std::string, std::string>>;

class HistogramRoutesTest : public ::testing::Test {
 protected:
  // Histograms of tag "w" at steps 0, 10, 20, …, each with two bins that are not empty.
  void WriteSteps(int count) {
    std::string bytes;
    for (int64_t i = 0; i < count; ++i) {
      const FakeHisto histo{
          .min = -1, .max = 1.5, .limits = {-2, 0, 2, 9}, .counts = {0, 1.0 + i, 2, 0}};
      bytes += FramedRecord(SummaryEvent(i, i * 10, {HistoValue("w", histo)}));
    }
    fake_.Write("a/events.out.tfevents.1", bytes);
    runs_.Refresh();
  }
  Answer Series(const Query& more, const std::string& tag = "w") const {
    Query query = {{"run", "a"}, {"tag", tag}};
    query.insert(query.end(), more.begin(), more.end());
    return AnswerHistogramRoutes(runs_, "/data/histograms/series", query);
  }
  std::vector<int> StepsOf(const Answer& answer) const {
    EXPECT_EQ(answer.status, 200) << answer.body;
    std::vector<int> steps;
    const json body = json::parse(answer.body);
    for (const json& histogram : body["histograms"]) steps.push_back(histogram["step"]);
    return steps;
  }

  FakeDirectory fake_;
  RunSet runs_{fake_.path()};
};

TEST_F(HistogramRoutesTest, TagsTellTheRangeOfStepsAndTheBins) {
  WriteSteps(4);
  const Answer answer = AnswerHistogramRoutes(runs_, "/data/histograms/tags", {});
  EXPECT_EQ(json::parse(answer.body), json::parse(R"({"tags": [
      {"run": "a", "tag": "w", "displayName": "w", "description": "", "count": 4,
       "firstStep": 0, "lastStep": 30, "bins": 2}]})"));
}

TEST_F(HistogramRoutesTest, ASeriesHasTheTrueEdges) {
  WriteSteps(1);
  EXPECT_EQ(json::parse(Series({}).body), json::parse(R"({
      "run": "a", "tag": "w", "firstStep": 0, "lastStep": 0, "inRange": 1, "histograms": [
          {"step": 0, "wall": 0.0, "min": -1, "max": 1.5,
           "edges": [-2, 0, 2], "counts": [1, 2]}]})"));
}

TEST_F(HistogramRoutesTest, StepsAndTheirNumberCanBeChosen) {
  WriteSteps(100);
  EXPECT_THAT(StepsOf(Series({{"steps", "20..50"}})), ElementsAre(20, 30, 40, 50));
  EXPECT_THAT(StepsOf(Series({{"steps", "975.."}})), ElementsAre(980, 990));
  EXPECT_THAT(StepsOf(Series({{"steps", "..15"}})), ElementsAre(0, 10));
  EXPECT_THAT(StepsOf(Series({{"steps", "50..20"}})), ElementsAre());
  EXPECT_THAT(StepsOf(Series({{"max", "4"}})), ElementsAre(0, 330, 660, 990));
  EXPECT_THAT(StepsOf(Series({{"max", "1"}})), ElementsAre(990));
  EXPECT_THAT(StepsOf(Series({{"max", "2"}, {"steps", "100..200"}})), ElementsAre(100, 200));
  EXPECT_EQ(StepsOf(Series({})).size(), kHistogramsByDefault);
  EXPECT_EQ(StepsOf(Series({{"max", "500"}})).size(), 100u);
  EXPECT_EQ(json::parse(Series({{"steps", "20..50"}, {"max", "1"}}).body)["inRange"], 4);
}

TEST_F(HistogramRoutesTest, WhatCannotBeReadIsTold) {
  WriteSteps(1);
  EXPECT_EQ(AnswerHistogramRoutes(runs_, "/data/histograms/series", {}).status, 400);
  for (const char* const steps : {"", "5", "a..b", "1..2..3", "1...2", "99999999999999999999.."}) {
    EXPECT_EQ(Series({{"steps", steps}}).status, 400) << steps;
  }
  for (const char* const most : {"", "0", "501", "-1", "x"}) {
    EXPECT_EQ(Series({{"max", most}}).status, 400) << most;
  }
  EXPECT_THAT(Series({{"steps", "5"}}).body, HasSubstr("write 100..500"));
  EXPECT_EQ(Series({}, "no such").status, 404);
  EXPECT_EQ(AnswerHistogramRoutes(runs_, "/data/other", {}).status, 404);
}

TEST_F(HistogramRoutesTest, ProblemsAreListed) {
  fake_.Write("b/events.out.tfevents.1", std::string(20, '\0'));
  runs_.Refresh();
  const json body =
      json::parse(AnswerHistogramRoutes(runs_, "/data/problems", {}).body)["problems"];
  ASSERT_EQ(body.size(), 1u);
  EXPECT_EQ(body[0]["run"], "b");
  EXPECT_EQ(body[0]["file"], "events.out.tfevents.1");
  EXPECT_EQ(body[0]["byte"], 0);
  EXPECT_THAT(body[0]["what"].get<std::string>(), HasSubstr("zeros"));
}

}  // namespace
}  // namespace taas::dashboard
