#include "cli/local/ci_report.h"

#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas {
namespace {

Job Finished() {
  Job job;
  job.spec.roles = {{Role::kChief, {1}}, {Role::kPs, {2}}, {Role::kWorker, {2}}};
  job.status.state = JobState::kSucceeded;
  job.status.ready = "0/5";
  job.status.restarts = {{RestartCause::kKilled, 2}, {RestartCause::kPreempted, 1}};
  job.status.progress = Progress{.step = 2000,
                                 .max_steps = 2000,
                                 .percent = 100,
                                 .examples_per_second = 20000.4,
                                 .loss = 0.08125,
                                 .eta_seconds = 0,
                                 .evaluation = Evaluation{.step = 2000, .accuracy = 0.954},
                                 .data_source = "MNIST"};
  return job;
}

TEST(ReportJsonTest, ASucceededJobHasItsNumbers) {
  const auto report = nlohmann::json::parse(ReportJson({.job = Finished(), .seconds = 9.87654}));
  EXPECT_EQ(report, nlohmann::json::parse(R"({"state":"Succeeded","steps":2000,"seconds":9.877,
      "accuracy":0.954,"loss":0.08125,"examplesPerSecond":20000.4,
      "restarts":{"total":3,"killed":2,"preempted":1},
      "replicas":{"chief":1,"ps":2,"worker":2},"dataSource":"MNIST",
      "checkpoint":null,"message":""})"));
}

TEST(ReportJsonTest, ACheckpointThatStaysIsThereWithItsFolder) {
  CiOutcome outcome{.job = Finished(), .state = "", .message = "", .checkpoint = CheckpointPlace()};
  outcome.checkpoint->folder = "/home/me/out";
  outcome.checkpoint->step = 2000;
  outcome.checkpoint->bytes = 31'400;
  EXPECT_EQ(nlohmann::json::parse(ReportJson(outcome))["checkpoint"],
            nlohmann::json::parse(R"({"step":2000,"folder":"/home/me/out","bytes":31400})"));
}

TEST(ReportJsonTest, WhatIsNotKnownIsNullAndOurOwnOutcomeWins) {
  const auto report = nlohmann::json::parse(
      ReportJson({.job = {}, .state = "Rejected", .message = "spec.roles: Required value"}));
  EXPECT_EQ(report["state"], "Rejected");
  EXPECT_EQ(report["message"], "spec.roles: Required value");
  EXPECT_TRUE(report["accuracy"].is_null());
  EXPECT_TRUE(report["loss"].is_null());
  EXPECT_TRUE(report["dataSource"].is_null());
  EXPECT_EQ(report["restarts"]["total"], 0);
}

}  // namespace
}  // namespace taas
