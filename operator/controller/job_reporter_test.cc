#include "operator/controller/job_reporter.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/sim_executor.h"
#include "operator/controller/fake_api.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

class JobReporterTest : public testing::Test {
 protected:
  static Job JobOf(JobKind kind) {
    Job job;
    job.kind = kind;
    job.meta = {.ns = "ns", .name = "mnist", .uid = "u"};
    return job;
  }
  std::vector<std::string> Reasons() {
    executor_.RunUntil(executor_.clock().Now() + std::chrono::seconds(1));
    std::vector<std::string> reasons;
    for (const json& event : api_.events()) reasons.push_back(event["reason"]);
    return reasons;
  }

  SimExecutor executor_{{.seed = 1}};
  SeededRandom random_{1};
  FakeApi api_{executor_, random_};
  ApiWriter writer_{api_};
  EventWriter events_{writer_, executor_.clock(), random_};
  JobReporter reporter_{events_, executor_.clock()};
  JobReporter::Memory memory_;
};

// A job that grows and shrinks for days must not fill the cluster with events.
TEST_F(JobReporterTest, AtMostFiveEventsTellWhatIsMadeForAJob) {
  const Job job = JobOf(JobKind::kTrainingJob);
  for (int i = 0; i < 7; ++i) {
    reporter_.Changed(job, memory_,
                      {.pods_made = {{.name = "mnist-worker-" + std::to_string(i)}}});
  }
  EXPECT_EQ(Reasons(), std::vector<std::string>(5, "PodsCreated"));
}

TEST_F(JobReporterTest, ARefusalIsToldInTheWordsOfTfJobsOnceForEachKindOfStep) {
  const WriteResult refused{.kind = WriteResult::Kind::kRefused,
                            .message = "create pod ns/mnist-worker-0: 403: no",
                            .reason = "Forbidden"};
  const std::vector<Step> steps = {CreatePod(),     CreateService(),  CreatePodGroup(),
                                   DeletePod(),     DeleteService(),  DeletePodGroup(),
                                   CreateConfigMap(), ReleasePod()};
  for (int round = 0; round < 2; ++round) {
    for (const Step& step : steps) {
      reporter_.Refused(JobOf(JobKind::kTfJob), memory_, step, refused);
    }
  }
  EXPECT_THAT(Reasons(),
              UnorderedElementsAre("FailedCreatePod", "FailedCreateService",
                                   "FailedCreatePodGroup", "FailedCreateConfigMap",
                                   "FailedDeletePod",
                                   "FailedDeleteService", "FailedDeletePodGroup", "Refused"));
  for (const json& event : api_.events()) {
    EXPECT_EQ(event["type"], "Warning");
    EXPECT_EQ(event["message"], refused.message);
    EXPECT_EQ(event["involvedObject"]["kind"], "TFJob");
  }
}

// Symptom: why a job did not run was told in its message only, of both kinds.
TEST_F(JobReporterTest, WhatIsInTheWayIsAWarningWithItsCount) {
  for (const JobKind kind : {JobKind::kTrainingJob, JobKind::kTfJob}) {
    JobReporter::Memory memory;
    const auto tell = [&](const std::string& message) {
      return reporter_.Hindered(
          JobOf(kind), memory,
          {{.cause = "Unschedulable", .reason = "Unschedulable", .message = message}});
    };
    tell("worker-0 cannot be scheduled: 0/1 nodes");
    EXPECT_EQ(tell("worker-0 cannot be scheduled: 0/2 nodes"), std::chrono::seconds(30));
    EXPECT_EQ(Reasons().back(), "Unschedulable");
    EXPECT_EQ(api_.events().back()["message"], "worker-0 cannot be scheduled: 0/1 nodes");
    executor_.RunUntil(executor_.clock().Now() + std::chrono::seconds(30));
    tell("worker-0 cannot be scheduled: 0/2 nodes");
    EXPECT_EQ(Reasons().back(), "Unschedulable");
    const json& last = api_.events().back();
    EXPECT_EQ(last["type"], "Warning");
    EXPECT_EQ(last["message"], "worker-0 cannot be scheduled: 0/2 nodes");
    EXPECT_EQ(last["count"], 2);
    EXPECT_NE(last["firstTimestamp"], last["lastTimestamp"]);
  }
}

TEST_F(JobReporterTest, AReplicaThatRunsOutOfMemoryAgainAndAgainIsToldOnceInAWhile) {
  const LedgerNote note{true, "OOMKilled", "worker-1 ran out of memory", true};
  for (int i = 0; i < 5; ++i) reporter_.Noted(JobOf(JobKind::kTfJob), memory_, {note});
  EXPECT_THAT(Reasons(), ElementsAre("OOMKilled"));
  executor_.RunUntil(executor_.clock().Now() + std::chrono::seconds(30));
  reporter_.Hindered(JobOf(JobKind::kTfJob), memory_, {});
  EXPECT_THAT(Reasons(), ElementsAre("OOMKilled", "OOMKilled"));
  EXPECT_EQ(api_.events().back()["count"], 5);
}

TEST_F(JobReporterTest, ARefusalForATrainingJobIsOne) {
  reporter_.Refused(JobOf(JobKind::kTrainingJob), memory_, CreatePod(),
                    {.kind = WriteResult::Kind::kRefused, .message = "no", .reason = "Forbidden"});
  EXPECT_THAT(Reasons(), ElementsAre("Refused"));
}

}  // namespace
}  // namespace taas
