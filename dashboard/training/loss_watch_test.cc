#include "dashboard/training/loss_watch.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/sim_executor.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<double> Curve(int points, const std::function<double(double part)>& at) {
  std::vector<double> losses;
  for (int i = 0; i < points; ++i) losses.push_back(at(i / double(points - 1)));
  return losses;
}

// Symptom: a training with a learning rate of 1000, loss 554 and accuracy 0.095, was Healthy and
// green.
TEST(LossRisesTest, ALossOfManyTimesItsFirstValueRises) {
  EXPECT_TRUE(LossRises({2.3, 5'000, 1'200, 900, 600, 554, 554, 554}));
  EXPECT_TRUE(LossRises({2.3, 2.1, 2.5, 9, 30, 200, 900}));
  EXPECT_FALSE(LossRises({2.3, 2.1, 3.5, 2.4, 2.8, 3.0, 2.6}));
}

// Symptom: the first point that the chief kept of it was one of after the first step: 184,077, and
// then a thousand for ever.
TEST(LossRisesTest, AnAbsurdLossOfAClassifierThatIsWrongRises) {
  const std::vector<double> losses = {184'077, 988, 967, 1'147, 1'208, 1'143, 1'039, 1'111};
  EXPECT_FALSE(LossRises(losses));  // It may be one of squares.
  EXPECT_TRUE(LossRises(losses, std::vector<double>(8, 0.1)));
  EXPECT_FALSE(LossRises(losses, std::vector<double>(8, 0.9)));
  EXPECT_FALSE(LossRises(std::vector<double>(8, 13.8), std::vector<double>(8, 1e-6)));
}

TEST(LossRisesTest, ALossThatIsFarAboveItsBestForLongRises) {
  EXPECT_TRUE(LossRises(Curve(100, [](double x) { return x < 0.5 ? 2.3 - 4 * x : 2; })));
  // Back on its way down.
  EXPECT_FALSE(LossRises(Curve(100, [](double x) {
    return x < 0.5 ? 2.3 - 4 * x : 2 - 3 * (x - 0.5);
  })));
  // A jump that is young may be one of a learning rate that starts anew.
  EXPECT_FALSE(LossRises(Curve(100, [](double x) { return x < 0.9 ? 2.3 - 2 * x : 2.2; })));
}

TEST(LossRisesTest, ALossThatIsBelowNoughtIsJudgedAlike) {
  EXPECT_TRUE(LossRises(Curve(100, [](double x) { return x < 0.5 ? -1 - 10 * x : -1.5; })));
  EXPECT_FALSE(LossRises(Curve(100, [](double x) { return -1 - 10 * x; })));
}

TEST(LossRisesTest, WhatIsNoNumberRises) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(LossRises({2.3, 2.1, 2.0, nan, nan, nan, nan, nan}));
  EXPECT_TRUE(LossRises({2.3, 2.1, 2.0, INFINITY, INFINITY, INFINITY, INFINITY}));
}

TEST(LossRisesTest, FewPointsSayNothing) {
  EXPECT_FALSE(LossRises({}));
  EXPECT_FALSE(LossRises({1, 100, 1'000, 1e6, 1e9}));
}

// Losses of single batches jump about, the more the better the model is.
TEST(LossRisesTest, NoTrainingThatLearnsOrStandsStillIsCalledRising) {
  const uint64_t seed = 7;
  SCOPED_TRACE(seed);
  SeededRandom random(seed);
  const auto noise = [&random] { return random.Next() % 1'000 / 1'000.0; };
  for (int round = 0; round < 300; ++round) {
    const int points = 6 + static_cast<int>(random.Next() % 995);
    const double speed = 1 + noise() * 20, wild = noise();
    const std::vector<double> learns = Curve(points, [&](double x) {
      return (2.3 * std::exp(-speed * x) + 0.01) * (1 - wild / 2 + wild * noise());
    });
    EXPECT_FALSE(LossRises(learns)) << points << " points, speed " << speed << ", " << wild;
    const std::vector<double> stands = Curve(points, [&](double) { return 2.3 + 0.2 * noise(); });
    EXPECT_FALSE(LossRises(stands)) << points << " points";
  }
}

TEST(LossCurveTest, WhatIsNoCurveIsNone) {
  EXPECT_THAT(CurveOf(R"({"series":{"loss":[[1,1.7e9,2.5],[2,1.7e9,3]]}})", "loss"),
              ElementsAre(2.5, 3));
  for (const char* answer : {"", "[]", "{}", R"({"series":7})", R"({"series":{"loss":7}})",
                             R"({"series":{"loss":[7,[1],[1,2,"x"],[1,2,null]]}})"}) {
    EXPECT_THAT(CurveOf(answer, "loss"), IsEmpty()) << answer;
  }
}

class LossWatchTest : public testing::Test {
 protected:
  void AddJob(const std::string& uid, JobState state = JobState::kRunning) {
    auto job = std::make_shared<WatchedJob>();
    job->meta.uid = uid;
    job->status.state = state;
    job->status.progress = Progress{.step = 10, .loss = 2.0};
    jobs_.push_back(job);
  }
  void Run(Clock::Duration time) { executor_.RunUntil(executor_.clock().Now() + time); }
  static std::string Answer(const std::vector<double>& losses) {
    nlohmann::json curve = nlohmann::json::array();
    for (const double loss : losses) curve.push_back({curve.size(), 1.7e9, loss});
    return nlohmann::json{{"series", {{"loss", curve}}}}.dump();
  }

  SimExecutor executor_{{.in_order = true}};
  std::vector<LossWatch::JobPtr> jobs_;
  std::map<std::string, std::string> answers_;
  std::vector<std::string> asked_, told_;
  bool watched_ = true;
  LossWatch watch_{{.executor = executor_,
                    .jobs = [this] { return jobs_; },
                    .fetch =
                        [this](const WatchedJob& job, const auto& done) {
                          asked_.push_back(job.meta.uid);
                          done(answers_[job.meta.uid]);
                        },
                    .watched = [this] { return watched_; },
                    .tell =
                        [this](const WatchedJob& job, bool rises) {
                          told_.push_back(job.meta.uid + (rises ? " rises" : " falls"));
                        }}};
};

TEST_F(LossWatchTest, ItTellsOnceOfEachChange) {
  AddJob("bad");
  AddJob("good");
  AddJob("over", JobState::kSucceeded);
  answers_["bad"] = Answer({2.3, 90, 200, 300, 554, 554, 554});
  answers_["good"] = Answer({2.3, 2.0, 1.5, 1.0, 0.8, 0.7, 0.6});
  watch_.Start();
  Run(2min);
  EXPECT_THAT(told_, ElementsAre("bad rises"));
  answers_["bad"] = "";  // It does not answer: nothing new.
  Run(1min);
  EXPECT_THAT(told_, ElementsAre("bad rises"));
  answers_["bad"] = answers_["good"];
  Run(1min);
  EXPECT_THAT(told_, ElementsAre("bad rises", "bad falls"));
}

TEST_F(LossWatchTest, NobodyIsAskedWhileNobodyLooksAndManyAreAskedInTurn) {
  for (int i = 0; i < 20; ++i) AddJob("job-" + std::to_string(i));
  watched_ = false;
  watch_.Start();
  Run(1min);
  EXPECT_THAT(asked_, IsEmpty());
  watched_ = true;
  Run(LossWatch::kTick);
  EXPECT_EQ(asked_.size(), LossWatch::kJobsPerTick);
  Run(2 * LossWatch::kTick);
  EXPECT_EQ(asked_.size(), 20u);
  Run(LossWatch::kTick);
  EXPECT_EQ(asked_.size(), 20u);  // All were asked lately.
}

}  // namespace
}  // namespace taas::dashboard
