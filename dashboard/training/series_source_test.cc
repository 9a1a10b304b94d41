#include "dashboard/training/series_source.h"

#include <string>
#include <utility>

#include "dashboard/training/fake_replica.h"
#include "dashboard/training/series_routes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/sim_executor.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;

class SeriesSourceTest : public testing::Test {
 protected:
  SeriesSourceTest() {
    job_.meta.uid = "u";
    job_.roles = {{.role = Role::kChief, .name = "chief"}, {.role = Role::kWorker}};
    pods_.push_back(RunningReplica(Role::kWorker, "10.0.0.2"));
    pods_.push_back(RunningReplica(Role::kChief, "10.0.0.1"));
  }
  std::shared_ptr<json> Fetch() {
    auto answer = std::make_shared<json>();
    source_.Fetch(job_, pods_, [answer](const SeriesReply& reply) {
      *answer = json::parse(reply.text);
      EXPECT_EQ(reply.live, answer->contains("source"));
    });
    return answer;
  }

  SimExecutor executor_{{.in_order = true}};
  FakeTrainers trainers_;
  SeriesSource source_{trainers_, executor_};
  WatchedJob job_;
  SeriesSource::Pods pods_;
};

TEST_F(SeriesSourceTest, TheChiefIsAskedAndTheEvaluatorBesideIt) {
  pods_.push_back(RunningReplica(Role::kEvaluator, "10.0.0.3"));
  const auto answer = Fetch();
  ASSERT_EQ(trainers_.asked.size(), 2);
  EXPECT_EQ(trainers_.asked[0].first, "10.0.0.1:2223/series");
  EXPECT_EQ(trainers_.asked[1].first, "10.0.0.3:2223/series");
  trainers_.Answer(R"({"series": {"loss": [[1, 1.7e9, 0.5]]}})");
  trainers_.Answer(R"({"series": {"accuracy": [[1, 1.7e9, 0.9]]}})");
  EXPECT_EQ((*answer)["source"], "chief-0");
  EXPECT_EQ((*answer)["series"]["loss"], json::parse("[[1, 1.7e9, 0.5]]"));
  EXPECT_EQ((*answer)["evaluator"]["accuracy"].size(), 1);
}

TEST_F(SeriesSourceTest, WithoutAChiefTheFirstWorkerKeepsThem) {
  job_.roles = {{.role = Role::kWorker, .name = "worker"}};
  Fetch();
  EXPECT_EQ(trainers_.asked[0].first, "10.0.0.2:2223/series");
}

TEST_F(SeriesSourceTest, OneAnswerServesAllWhoAskMeanwhile) {
  const auto first = Fetch();
  const auto second = Fetch();
  ASSERT_EQ(trainers_.asked.size(), 1);
  trainers_.Answer(R"({"series": {"loss": []}})");
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(*Fetch(), *first);
  EXPECT_EQ(trainers_.asked.size(), 0);
  executor_.RunUntil(executor_.clock().Now() + 2s, [] { return false; });
  Fetch();
  EXPECT_EQ(trainers_.asked.size(), 1);
}

TEST_F(SeriesSourceTest, WhereNobodyAnswersItIsSaidWhy) {
  const auto silent = Fetch();
  trainers_.Answer(absl::UnavailableError("connection refused"));
  EXPECT_THAT(std::string((*silent)["message"]), HasSubstr("connection refused"));
  EXPECT_FALSE(silent->contains("source"));
  pods_.clear();
  executor_.RunUntil(executor_.clock().Now() + 2s, [] { return false; });
  EXPECT_THAT(std::string((*Fetch())["message"]), HasSubstr("no replica"));
}

// An own image may serve anything at this address.
TEST_F(SeriesSourceTest, WhatIsNoCurveIsLeftOut) {
  for (const char* body : {"", "[]", "<html>", R"({"series": 7})", R"({"loss": []})"}) {
    EXPECT_FALSE(ReadSeriesPage(body).ok()) << body;
  }
  const auto page = ReadSeriesPage(
      R"({"series": {"a": [[1, 2, 3], [1, 2], "x", [1, 2, null], [1, "2", 3]], "b": 5}})");
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(*page, json::parse(R"({"a": [[1, 2, 3]]})"));
}

// Symptom: the curves of a job that is over ended where its trainer had been asked for the last
// time, and its last evaluation was in none of them.
TEST(CompleteAnswerTest, OfAJobThatIsOverTheCurvesGoToItsEnd) {
  const Clock::WallTime now(1'000s);
  WatchedJob job;
  job.of_text = true;
  JobStatus& status = job.status;
  status.completion_time = Clock::WallTime(500s);
  status.progress = Progress{.step = 20, .max_steps = 20};
  status.progress->evaluation = Evaluation{.step = 20, .accuracy = 0.9, .loss = 0.2};
  const std::string silent = R"({"series": {}, "message": "no replica runs now"})";
  const std::string files =
      R"({"series": {"loss": [[10, 400, 0.5], [20, 500, 0.4], [30, 999, 0.3]]}, "evaluator": {}})";
  const json whole = json::parse(CompleteAnswer(silent, files, job, now));
  EXPECT_EQ(whole["series"]["loss"], json::parse("[[10, 400.0, 0.5], [20, 500.0, 0.4]]"));
  EXPECT_EQ(whole["evaluator"]["accuracy"], json::parse("[[20, 500.0, 0.9]]"));
  EXPECT_NEAR(whole["evaluator"]["perplexity"][0][2], 1.2214, 1e-4);
  EXPECT_EQ(whole["archived"], true);
  EXPECT_FALSE(whole.contains("message"));
  // Of nothing it is said why there is nothing.
  EXPECT_EQ(json::parse(CompleteAnswer(silent, "", {}, now)), json::parse(silent));
}

TEST(SeriesSinceTest, OnlyLaterPointsAreLeft) {
  EXPECT_EQ(json::parse(SeriesSince(R"({"series": {"a": [[1,2,3],[5,6,7]]}, "source": "s"})", 1)),
            json::parse(R"({"series": {"a": [[5,6,7]]}, "source": "s"})"));
}

}  // namespace
}  // namespace taas::dashboard
