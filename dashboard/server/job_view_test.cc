#include "dashboard/server/job_view.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using nlohmann::json;

class JobViewTest : public testing::Test {
 protected:
  JobViewTest() {
    job_.meta.name = "m";
    job_.status.state = JobState::kRunning;
    job_.roles = {{.role = Role::kWorker, .name = "worker", .key = "worker", .desired = 2}};
  }
  WatchedPod& AddPod(int32_t index) {
    auto pod = std::make_shared<WatchedPod>();
    pod->meta.name = "m-worker-" + std::to_string(index);
    pod->role = Role::kWorker;
    pod->index = index;
    pod->node = "n";
    pod->phase = PodPhase::kRunning;
    pod->ready = true;
    pods_.push_back(pod);
    return *pod;
  }
  json Detail() {
    const JobToJudge judged{.job = job_, .pods = {pods_.begin(), pods_.end()}};
    return DetailOf({.judged = judged, .pods_visible = true});
  }

  WatchedJob job_;
  std::vector<std::shared_ptr<WatchedPod>> pods_;
};

// Symptom: the page offered numbers of workers that the API server refused.
TEST_F(JobViewTest, ElasticWorkersHaveTheirBounds) {
  EXPECT_FALSE(Detail()["roles"][0].contains("elastic"));
  job_.roles[0].elastic = ElasticSpec{.min_replicas = 2, .max_replicas = 8};
  EXPECT_EQ(Detail()["roles"][0]["elastic"], (json{{"minReplicas", 2}, {"maxReplicas", 8}}));
}

// Symptom: a pod that crashed again and again was "worker 1/1" and "Running" for twenty minutes,
// in lists, on the phone, on its page and in the grid.
TEST_F(JobViewTest, APodThatCrashesAgainAndAgainIsNeitherReadyNorRunning) {
  AddPod(0);
  WatchedPod& crashes = AddPod(1);
  crashes.ready = false;
  crashes.waiting_reason = "CrashLoopBackOff";
  crashes.waiting_message = "back-off 5m0s restarting failed container";
  const json detail = Detail();
  EXPECT_EQ(detail["roles"][0]["ready"], 1);
  EXPECT_EQ(detail["replicas"][0]["state"], "Running");
  EXPECT_EQ(detail["replicas"][1]["state"], "Waiting");
  EXPECT_EQ(detail["replicas"][1]["ready"], false);
  EXPECT_EQ(detail["replicas"][1]["message"],
            "CrashLoopBackOff: back-off 5m0s restarting failed container");
  crashes.last_termination_message = "ValueError: no such column";
  EXPECT_EQ(Detail()["replicas"][1]["message"], "CrashLoopBackOff: ValueError: no such column");
}

// Symptom: of a job with nine GPUs asked for and three held the page said 3 and the command line 9.
TEST_F(JobViewTest, WhatAJobAsksForBeyondWhatItHoldsIsSaid) {
  job_.roles[0].gpus = 3;
  AddPod(0).gpus = 3;
  EXPECT_EQ(Detail()["gpus"], 3);
  EXPECT_EQ(Detail()["gpusAsked"], 6);
  AddPod(1).gpus = 3;
  EXPECT_FALSE(Detail().contains("gpusAsked"));
  pods_.clear();
  job_.suspend = true;
  EXPECT_FALSE(Detail().contains("gpusAsked"));
}

TEST_F(JobViewTest, APodWhoseProbeFailsRunsAndIsNotReady) {
  AddPod(0).ready = false;
  const json detail = Detail();
  EXPECT_EQ(detail["roles"][0]["ready"], 0);
  EXPECT_EQ(detail["replicas"][0]["state"], "Running");
}

// Symptom: replicas whose pods were removed as the job ended were "Missing", as if something were
// wrong.
TEST_F(JobViewTest, OfAJobThatIsOverNoPodIsMissing) {
  EXPECT_EQ(Detail()["replicas"][0]["state"], "Missing");
  job_.status.state = JobState::kFailed;
  EXPECT_EQ(Detail()["replicas"][0]["state"], "Removed");
  job_.status.state = JobState::kSuspended;
  job_.suspend = true;
  EXPECT_EQ(Detail()["replicas"][0]["state"], "Removed");
}

}  // namespace
}  // namespace taas::dashboard
