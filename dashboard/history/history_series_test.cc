#include "dashboard/history/history_series.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using nlohmann::json;

Curve MakeCurve(size_t count, uint64_t seed) {
  SeededRandom random(seed);
  Curve curve;
  for (size_t i = 0; i < count; ++i) {
    curve.push_back({static_cast<int64_t>(10 * i), 1e9 + static_cast<double>(i), random.Unit()});
  }
  return curve;
}

json Answer(const Curve& loss) {
  json points = json::array();
  for (const CurvePoint& point : loss) points.push_back({point.step, point.time, point.value});
  return {{"source", "chief-0"}, {"series", {{"loss", points}}}};
}

TEST(ThinOutTest, AShortCurveStaysAsItIs) {
  const Curve curve = MakeCurve(1'000, 1);
  EXPECT_EQ(ThinOut(curve, 1'000), curve);
}

TEST(ThinOutTest, ALongOneKeepsItsEndsItsPeaksAndItsOrder) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Curve curve = MakeCurve(1'001 + 977 * seed, seed);
    const Curve thin = ThinOut(curve, 1'000);
    EXPECT_LE(thin.size(), 1'000u);
    EXPECT_GE(thin.size(), 900u);
    EXPECT_EQ(thin.front(), curve.front());
    EXPECT_EQ(thin.back(), curve.back());
    const auto by_value = [](const CurvePoint& a, const CurvePoint& b) {
      return a.value < b.value;
    };
    EXPECT_EQ(std::min_element(thin.begin(), thin.end(), by_value)->value,
              std::min_element(curve.begin(), curve.end(), by_value)->value);
    EXPECT_EQ(std::max_element(thin.begin(), thin.end(), by_value)->value,
              std::max_element(curve.begin(), curve.end(), by_value)->value);
    EXPECT_TRUE(std::is_sorted(thin.begin(), thin.end(), [](const auto& a, const auto& b) {
      return a.step < b.step;
    }));
    // Again and again, as at each answer of the trainer, changes nothing.
    EXPECT_EQ(ThinOut(thin, 1'000).size(), thin.size());
  }
}

TEST(JoinCurvesTest, ATrainerThatStartsAgainDoesNotTakeAwayWhatWasBefore) {
  const json before = Answer({{1, 10, 0.9}, {2, 20, 0.8}, {3, 30, 0.7}});
  const std::string first = JoinCurves("", before.dump());
  // It went back to step 2 and knows nothing of before.
  const std::string both = JoinCurves(first, Answer({{2, 40, 0.85}, {3, 50, 0.75}}).dump());
  EXPECT_EQ(json::parse(both)["series"]["loss"],
            json::parse("[[1,10.0,0.9],[2,40.0,0.85],[3,50.0,0.75]]"));
}

TEST(JoinCurvesTest, AnAnswerWithoutPointsTakesNothingAway) {
  const std::string first = JoinCurves("", Answer({{1, 10, 0.9}}).dump());
  EXPECT_EQ(JoinCurves(first, R"({"series":{},"message":"nobody answers"})"), first);
  EXPECT_EQ(JoinCurves(first, R"({"series":{"loss":[]}})"), first);
  EXPECT_EQ(JoinCurves(first, "<html>"), first);
}

TEST(JoinCurvesTest, TheEvaluatorsCurvesStandBesideTheOthers) {
  const std::string kept =
      JoinCurves("", R"({"series":{"loss":[[1,2,3]]},"evaluator":{"loss":[[1,2,4]]}})");
  EXPECT_EQ(json::parse(kept), json::parse(R"({"series":{"loss":[[1,2.0,3.0]]},
                                               "evaluator":{"loss":[[1,2.0,4.0]]}})"));
}

TEST(JoinCurvesTest, WhatIsNoPointIsLeftOut) {
  const std::string kept = JoinCurves("", R"({"series":{"loss":
      [[1,2,3],[2,3],"x",[3,"4",5],[4,5,null],[5,6,7,8],[2,9,9],[7,8,9]],
      "none":{"a":1},"empty":[]},"evaluator":7})");
  EXPECT_EQ(json::parse(kept), json::parse(R"({"series":{"loss":[[1,2.0,3.0],[2,9.0,9.0],
                                                                 [7,8.0,9.0]]}})"));
}

TEST(JoinCurvesTest, AProgramOfAUsersOwnDoesNotFillTheDisk) {
  json answer = {{"series", json::object()}};
  for (int i = 0; i < 500; ++i) answer["series"]["c" + std::to_string(i)] = {{1, 2, 3}};
  answer["series"][std::string(10'000, 'n')] = {{1, 2, 3}};
  EXPECT_EQ(json::parse(JoinCurves("", answer.dump()))["series"].size(), kCurvesMax);

  const std::string many = JoinCurves("", Answer(MakeCurve(20'000, 1)).dump());
  EXPECT_LE(json::parse(many)["series"]["loss"].size(), kCurvePointsMax);

  const std::string large = "{\"series\":{\"" + std::string(kSeriesAnswerBytes, 'x') + "\":[]}}";
  EXPECT_EQ(JoinCurves("", large), "");
  EXPECT_EQ(JoinCurves("", std::string(100'000, '[')), "");
}

TEST(JoinCurvesTest, LongCurvesStayWithinTheirPointsHoweverOftenTheyAreJoined) {
  std::string kept;
  SeededRandom random(3);
  for (int round = 0; round < 60; ++round) {
    Curve fresh;
    for (int i = 0; i < 100; ++i) {
      fresh.push_back({round * 100 + i + 1, 1e9 + round * 100 + i, random.Unit()});
    }
    kept = JoinCurves(kept, Answer(fresh).dump());
  }
  const json loss = json::parse(kept)["series"]["loss"];
  EXPECT_LE(loss.size(), kCurvePointsMax);
  EXPECT_EQ(loss.front()[0], 1);
  EXPECT_EQ(loss.back()[0], 6'000);
}

LastPoints Loss(const CurvePoint& point) { return {.loss = point}; }

TEST(WithLastPointsTest, APointIsAddedBehindTheOthersOnly) {
  const std::string kept = JoinCurves("", Answer({{1, 1, 0.9}, {5, 5, 0.5}}).dump());
  EXPECT_EQ(json::parse(WithLastPoints(kept, Loss({9, 9, 0.1})))["series"]["loss"],
            json::parse("[[1, 1.0, 0.9], [5, 5.0, 0.5], [9, 9.0, 0.1]]"));
  EXPECT_EQ(WithLastPoints(kept, Loss({5, 9, 0.1})), kept);
  EXPECT_EQ(WithLastPoints(kept, Loss({9, 9, std::numeric_limits<double>::quiet_NaN()})), kept);
  EXPECT_EQ(WithLastPoints(kept, {}), kept);
  EXPECT_EQ(json::parse(WithLastPoints("", Loss({9, 9, 0.1})))["series"]["loss"].size(), 1u);
}

// Symptom: the evaluator's curve ended at step 1,266 with 0.966, while the job's status said 0.975
// at step 2,000; of a job without an evaluator the test accuracy was in no curve at all.
TEST(WithLastPointsTest, TheLastEvaluationIsInTheCurvesOfTheTestData) {
  const std::string kept = R"({"evaluator":{"accuracy":[[1266,1.0,0.966]]},)"
                           R"("series":{"accuracy":[[2000,2.0,0.96]]}})";
  const LastPoints last{.test_loss = CurvePoint{2'000, 3, 0.08},
                        .test_accuracy = CurvePoint{2'000, 3, 0.975}};
  const json with = json::parse(WithLastPoints(kept, last));
  EXPECT_EQ(with["evaluator"]["accuracy"],
            json::parse("[[1266, 1.0, 0.966], [2000, 3.0, 0.975]]"));
  EXPECT_EQ(with["evaluator"]["loss"], json::parse("[[2000, 3.0, 0.08]]"));
  EXPECT_EQ(with["series"]["accuracy"], json::parse("[[2000, 2.0, 0.96]]"));
  const json alone = json::parse(WithLastPoints("", last));
  EXPECT_EQ(alone["evaluator"]["accuracy"].size(), 1u);
  EXPECT_EQ(alone["series"], json::object());
}

// Symptom: of a short job the curves ended at step 1,400 of 3,000, and the loss was a straight line
// from there to its last point, while the event files had all of them.
TEST(FilledCurvesTest, WhatNobodyAskedForInTimeComesFromTheFiles) {
  const std::string kept = R"({"series":{"loss":[[1,1.0,0.9],[1400,2.0,0.5],[3000,9.0,0.1]],)"
                           R"("own":[[1,1.0,7.0]]},"archived":true})";
  const std::string files = R"({"series":{"loss":[[1,1,0.9],[1400,2,0.6],[1450,3,0.4],)"
                            R"([3000,9,0.2],[3100,99,0.3]],"accuracy":[[50,1,0.5],[3000,9,0.97]]},)"
                            R"("evaluator":{"loss":[[3000,9,0.3]]}})";
  const json filled = json::parse(FilledCurves(kept, files, 60));
  EXPECT_EQ(filled["series"]["loss"],
            json::parse("[[1, 1.0, 0.9], [1400, 2.0, 0.6], [1450, 3.0, 0.4], [3000, 9.0, 0.2]]"));
  EXPECT_EQ(filled["series"]["accuracy"].size(), 2u);
  EXPECT_EQ(filled["series"]["own"].size(), 1u);
  EXPECT_EQ(filled["evaluator"]["loss"].size(), 1u);
  EXPECT_EQ(filled["archived"], true);
  EXPECT_EQ(FilledCurves(kept, R"({"series":{},"evaluator":{}})", 60).empty(), false);
  EXPECT_EQ(FilledCurves("", "", 60), "");
  const json alone = json::parse(FilledCurves("", files, 60));
  EXPECT_EQ(alone["series"]["loss"].size(), 4u);
}

}  // namespace
}  // namespace taas::dashboard
