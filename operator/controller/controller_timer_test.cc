// Deadlines, time to live, suspension and scaling under the whole controller: what has to happen at
// a time or on a wish, with no other event to remind anybody.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/controller/controller_fixture.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A wish on a job of either kind: TrainingJobs have it in spec, TFJobs in spec.runPolicy.
struct Kind {
  const char* name;
  bool tf;
};

class TimerTest : public testing::TestWithParam<Kind> {
 protected:
  json Policy(json policy) const {
    return GetParam().tf ? json{{"runPolicy", std::move(policy)}} : policy;
  }
  void Create(const json& policy, int workers = 2) {
    if (GetParam().tf) {
      cluster_.CreateTfJob({.workers = workers}, "Never", Policy(policy));
    } else {
      cluster_.CreateJob({.workers = workers});
      cluster_.EditSpec(policy);
    }
    created_ = Now();
  }
  Clock::Time Now() { return cluster_.executor().clock().Now(); }
  bool RunUntilNoPods() {
    return cluster_.RunUntil([&] { return cluster_.api().Names("pods").empty(); }, seconds(600));
  }

  SimCluster cluster_{21};
  Clock::Time created_{};
};

TEST_P(TimerTest, TheActiveDeadlineFailsTheJobOnTimeThoughNothingElseHappens) {
  Create({{"activeDeadlineSeconds", 300}});
  ASSERT_TRUE(cluster_.RunUntilState("Running")) << cluster_.Job().dump(1);
  ASSERT_TRUE(cluster_.RunUntilState("Failed")) << cluster_.Job().dump(1);
  EXPECT_GE(Now() - created_, seconds(299));
  EXPECT_LE(Now() - created_, seconds(302));
  EXPECT_THAT(cluster_.Status().dump(), HasSubstr("eadline"));
}

TEST_P(TimerTest, AnOperatorThatWasDownAtTheDeadlineFailsTheJobWhenItIsBack) {
  Create({{"activeDeadlineSeconds", 60}});
  ASSERT_TRUE(cluster_.RunUntilState("Running"));
  cluster_.CrashOperator();  // It forgets its timers.
  ASSERT_TRUE(cluster_.RunUntilState("Failed")) << cluster_.Job().dump(1);
  EXPECT_LE(Now() - created_, seconds(62));
}

TEST_P(TimerTest, AFinishedJobIsDeletedAtTheEndOfItsTimeToLive) {
  cluster_.set_script([](const std::string&, int, milliseconds ran) {
    return ran >= seconds(2) ? std::optional(0) : std::nullopt;
  });
  Create({{"ttlSecondsAfterFinished", 120}});
  ASSERT_TRUE(cluster_.RunUntilState("Succeeded")) << cluster_.Job().dump(1);
  const Clock::Time ended = Now();
  ASSERT_TRUE(cluster_.RunUntil([&] { return cluster_.Job().empty(); }, seconds(600)));
  EXPECT_GE(Now() - ended, seconds(118));
  EXPECT_LE(Now() - ended, seconds(122));
  EXPECT_TRUE(RunUntilNoPods());
  EXPECT_THAT(cluster_.api().complaints(), IsEmpty());
  EXPECT_THAT(cluster_.metrics().Text(), Not(HasSubstr("\ntaas_jobs{")))
      << "of a namespace without jobs nothing is shown";
}

// Symptom to prevent: whoever waits for the job's end sees it vanish instead.
TEST_P(TimerTest, AJobThatIsNotToLiveOnIsSeenToSucceedAllTheSame) {
  cluster_.set_script([](const std::string&, int, milliseconds ran) {
    return ran >= seconds(2) ? std::optional(0) : std::nullopt;
  });
  Create({{"ttlSecondsAfterFinished", 0}});
  EXPECT_TRUE(cluster_.RunUntilState("Succeeded"));
  EXPECT_TRUE(cluster_.RunUntil([&] { return cluster_.Job().empty(); }, seconds(10)));
}

TEST_P(TimerTest, ASuspendedJobHasNoPodsAndAResumedOneHasThemAgain) {
  Create(json::object());
  ASSERT_TRUE(cluster_.RunUntilState("Running"));
  cluster_.EditSpec(Policy({{"suspend", true}}));
  ASSERT_TRUE(cluster_.RunUntilState("Suspended")) << cluster_.Job().dump(1);
  ASSERT_TRUE(RunUntilNoPods());
  cluster_.RunFor(seconds(120));
  EXPECT_THAT(cluster_.api().Names("pods"), IsEmpty());
  cluster_.EditSpec(Policy({{"suspend", false}}));
  ASSERT_TRUE(cluster_.RunUntilState("Running")) << cluster_.Job().dump(1);
  EXPECT_EQ(cluster_.api().Names("pods").size(), 2u);
  EXPECT_THAT(cluster_.Status().value("restarts", json::object()), IsEmpty())
      << "a suspension counts as a restart";
}

// Symptom: 120 suspended jobs of 1.2 MB took the operator 180 MB.
TEST_P(TimerTest, WhatPodsAreMadeOfIsNotHeldOfASuspendedJobAndIsThereWhenItIsResumed) {
  size_t held = 0;
  cluster_.set_before_plan([&held](const Snapshot& snapshot) {
    held = snapshot.job.spec.trainer.config.size();
    for (const auto& [role, spec] : snapshot.job.spec.roles) held += spec.pod_template.size();
  });
  Create(json::object());
  ASSERT_TRUE(cluster_.RunUntilState("Running"));
  EXPECT_GT(held, 0u);
  const json pod = *cluster_.api().Find("pods", "mnist-worker-0");
  cluster_.EditSpec(Policy({{"suspend", true}}));
  ASSERT_TRUE(cluster_.RunUntilState("Suspended")) << cluster_.Job().dump(1);
  ASSERT_TRUE(RunUntilNoPods());
  cluster_.RunFor(seconds(30));
  EXPECT_EQ(held, 0u);
  cluster_.EditSpec(Policy({{"suspend", false}}));
  ASSERT_TRUE(cluster_.RunUntilState("Running")) << cluster_.Job().dump(1);
  EXPECT_GT(held, 0u);
  const json again = *cluster_.api().Find("pods", "mnist-worker-0");
  EXPECT_EQ(again["spec"]["containers"][0]["image"], pod["spec"]["containers"][0]["image"]);
  EXPECT_EQ(again["spec"]["containers"][0].value("args", json()),
            pod["spec"]["containers"][0].value("args", json()));
}

TEST_P(TimerTest, AJobThatIsCreatedSuspendedWaits) {
  Create({{"suspend", true}});
  cluster_.RunFor(seconds(60));
  if (GetParam().tf) {  // A TrainingJob is edited only after it was created.
    EXPECT_THAT(cluster_.api().pod_creates(), IsEmpty());
  }
  EXPECT_THAT(cluster_.api().Names("pods"), IsEmpty());
  EXPECT_EQ(cluster_.Status().value("state", ""), "Suspended");
}

INSTANTIATE_TEST_SUITE_P(Kinds, TimerTest,
                         testing::Values(Kind{"TrainingJob", false}, Kind{"TFJob", true}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ScaleTest, AJobGrowsAndShrinksWhileItRuns) {
  SimCluster cluster(31);
  cluster.CreateJob({.chiefs = 1, .ps = 1, .workers = 1});
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  cluster.EditSpec(json::parse(R"({"roles":{"worker":{"replicas":3}}})"));
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.Status().value("ready", "") == "5/5"; },
                               seconds(60)))
      << cluster.Job().dump(1);
  cluster.EditSpec(json::parse(R"({"roles":{"worker":{"replicas":1}}})"));
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.api().Names("pods").size() == 3; },
                               seconds(60)));
  EXPECT_THAT(cluster.api().Names("pods"),
              ElementsAre("mnist-chief-0", "mnist-ps-0", "mnist-worker-0"));
  cluster.RunFor(seconds(30));
  EXPECT_EQ(cluster.api().pod_creates().at("mnist-worker-0"), 1);
}

TEST(PendingDeadlineTest, AGangThatDoesNotRunInTimeIsReleasedAndTriedAgainLater) {
  SimCluster cluster(32);
  // The second worker's node never comes.
  cluster.set_unschedulable("mnist-worker-1");
  cluster.CreateJob({.workers = 2});
  cluster.EditSpec({{"pendingDeadlineSeconds", 60}});
  const Clock::Time begun = cluster.executor().clock().Now();
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.PhaseOf("mnist-worker-0") == "Running"; },
                               seconds(30)));
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.api().Names("pods").empty(); }, seconds(90)))
      << cluster.Job().dump(1);
  EXPECT_GE(cluster.executor().clock().Now() - begun, seconds(59));
  EXPECT_LE(cluster.executor().clock().Now() - begun, seconds(63));
  cluster.set_unschedulable("");
  EXPECT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
}

}  // namespace
}  // namespace taas
