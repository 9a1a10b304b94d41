#include "operator/api/status_codec.h"

#include <cmath>
#include <limits>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/job_codec.h"
#include "operator/api/stored_job.h"
#include "operator/api/trainingjob_crd.h"
#include "operator/api/validation.h"
#include "operator/base/shorten.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using std::chrono::seconds;

constexpr char kStoredTfJob[] = R"({
  "apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "dist"},
  "spec": {"tfReplicaSpecs": {"Worker": {"replicas": 1, "template": {"spec": {
      "containers": [{"name": "tensorflow", "image": "i"}]}}}}}})";

Clock::WallTime At(int64_t second) { return Clock::WallTime(seconds(1'800'000'000 + second)); }

JobStatus FullStatus() {
  JobStatus status;
  status.observed_generation = 4;
  status.conditions = {{.type = "Running",
                        .status = true,
                        .reason = "PodsRunning",
                        .message = "all run",
                        .last_transition_time = At(1),
                        .observed_generation = 4},
                       {.type = "Failed", .last_transition_time = At(2)}};
  status.replica_statuses[Role::kWorker] = {
      .desired = 3, .active = 2, .ready = 1, .succeeded = 1, .failed = 0};
  status.replica_statuses[Role::kPs] = {.desired = 2, .active = 2, .ready = 2};
  status.restarts = {{RestartCause::kKilled, 2}, {RestartCause::kUserError, 1}};
  status.attempt = 2;
  status.state = JobState::kRestarting;
  status.gpus = 6;
  status.success_policy = SuccessPolicy::kAllWorkers;
  status.history = {{.role = Role::kWorker,
                     .index = 1,
                     .attempt = 2,
                     .pod_number = 3,
                     .cause = RestartCause::kKilled,
                     .exit_code = 137,
                     .message = "gone",
                     .node = "node-a",
                     .time = At(5)}};
  status.ready = "3/5";
  status.selector = "taas.dev/job-name=mnist,taas.dev/role=worker";
  status.message = "worker-1 was killed";
  status.start_time = At(3);
  status.completion_time = At(4);
  status.progress = Progress{.step = 10,
                             .max_steps = 40,
                             .percent = 25,
                             .examples_per_second = 1234.5,
                             .loss = 0.5,
                             .eta_seconds = 12,
                             .evaluation = Evaluation{10, 0.75, 0.25, 1000},
                             .data_source = "MNIST"};
  return status;
}

// Stored with `status`, as an object.
std::string WithStatus(const std::string& status) {
  Json object = Json::parse(kStored);
  object["status"] = Json::parse(status);
  return object.dump();
}

// Paths of all members of `value`.
void Paths(const Json& value, const std::string& path, std::set<std::string>* out) {
  if (!path.empty() && path.back() != ']') out->insert(path);
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) Paths(member, path + "." + name, out);
  }
  if (value.is_array()) {
    for (const Json& item : value) Paths(item, path + "[]", out);
  }
}

// The status of a regression said that its accuracy was 0.
TEST(EncodeStatusTest, WhatWasNotMeasuredIsNotThere) {
  JobStatus status;
  status.progress = Progress{.step = 5, .evaluation = Evaluation{.step = 5, .loss = 0.25}};
  const Json progress = Json::parse(EncodeStatus(Job{}, status))["progress"];
  EXPECT_EQ(progress["evaluation"],
            (Json{{"step", 5}, {"loss", 0.25}, {"examples", 0}}));
  EXPECT_FALSE(progress.contains("loss"));
  EXPECT_FALSE(progress.contains("percent")) << "a program that does not say how far it has to go";
}

TEST(EncodeStatusTest, TheFieldsOfTheCrdAndOfTheStructAreTheSame) {
  JobStatus status = FullStatus();
  status.replica_statuses[Role::kChief] = {};
  status.replica_statuses[Role::kEvaluator] = {};
  for (const RestartCause cause : {RestartCause::kOutOfMemory, RestartCause::kPreempted,
                                   RestartCause::kNodeLost, RestartCause::kBadNode}) {
    status.restarts[cause] = 1;
  }
  std::set<std::string> encoded;
  Paths(Json::parse(EncodeStatus(Job{}, status)), "status", &encoded);
  std::set<std::string> in_crd;
  for (const std::string& path : TrainingJobSchema().FieldPaths()) {
    if (path.rfind("status", 0) == 0) in_crd.insert(path);
  }
  EXPECT_EQ(encoded, in_crd);
}

TEST(EncodeStatusTest, IsReadBackAsItWas) {
  const auto job =
      DecodeJob(JobKind::kTrainingJob, WithStatus(EncodeStatus(Job{}, FullStatus())));
  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->status, FullStatus());
}

TEST(EncodeStatusTest, RestartCountIsTheSum) {
  EXPECT_EQ(Json::parse(EncodeStatus(Job{}, FullStatus()))["restartCount"], 3);
  EXPECT_EQ(Json::parse(EncodeStatus(Job{}, JobStatus()))["restartCount"], 0);
}

TEST(EncodeStatusTest, IsValidWhateverItHolds) {
  JobStatus status = FullStatus();
  status.message = std::string(40'000, 'x');
  constexpr size_t kMessageMax = 32'768;  // Of the schema.
  status.conditions[0].message = "not UTF-8: \xFF\xFE";
  status.conditions[0].reason = std::string(2000, 'r');
  status.progress->loss = std::numeric_limits<double>::quiet_NaN();
  status.progress->examples_per_second = std::numeric_limits<double>::infinity();
  status.progress->data_source = std::string(5000, 'd');
  status.history.assign(30, {.message = std::string(500, 'm'), .node = std::string(300, 'n')});
  Json object = Json::parse(WithStatus(EncodeStatus(Job{}, status)));
  EXPECT_FALSE(object["status"]["progress"].contains("loss"));
  EXPECT_FALSE(object["status"]["progress"].contains("examplesPerSecond"));
  EXPECT_EQ(object["status"]["message"], Shortened(status.message, kMessageMax));
  EXPECT_EQ(object["status"]["history"].size(), kRestartHistoryMax);
  object["metadata"].erase("unknown");
  object["spec"]["trainer"].erase("later");
  object["spec"]["roles"]["worker"].erase("later");
  object["spec"].erase("later");
  object["spec"]["trainer"]["data"] = {{"format", "generated"}};
  EXPECT_EQ(FormatFieldErrors(Validate(JobKind::kTrainingJob, object.dump())), "");
}

TEST(EncodeStatusTest, TheChiefIsCalledByItsName) {
  EXPECT_EQ(Json::parse(EncodeStatus(Job{}, JobStatus()))["successPolicy"], "Chief");
}

Job TfJob() {
  Job job;
  job.kind = JobKind::kTfJob;
  job.meta.name = "dist";
  job.spec.chief_is_master = true;
  return job;
}

TEST(EncodeTfJobStatusTest, ConditionsAreAListInTheOrderOfHistoryAsItsReadersHaveIt) {
  JobStatus status;
  status.conditions = {{.type = "Created",
                        .status = true,
                        .reason = "TFJobCreated",
                        .message = "TFJob dist is created.",
                        .last_transition_time = At(1)},
                       {.type = "Running",
                        .status = true,
                        .reason = "TFJobRunning",
                        .last_transition_time = At(2),
                        .last_update_time = At(3)}};
  status.start_time = At(2);
  const Json encoded = Json::parse(EncodeStatus(TfJob(), status));
  EXPECT_EQ(encoded["conditions"],
            Json::parse(R"([
      {"type": "Created", "status": "True", "reason": "TFJobCreated",
       "message": "TFJob dist is created.",
       "lastUpdateTime": "2027-01-15T08:00:01Z", "lastTransitionTime": "2027-01-15T08:00:01Z"},
      {"type": "Running", "status": "True", "reason": "TFJobRunning",
       "lastUpdateTime": "2027-01-15T08:00:03Z", "lastTransitionTime": "2027-01-15T08:00:02Z"}])"));
  EXPECT_EQ(encoded["lastReconcileTime"], "2027-01-15T08:00:03Z");
  EXPECT_EQ(encoded["startTime"], "2027-01-15T08:00:02Z");
  EXPECT_FALSE(encoded.contains("selector"));
}

TEST(EncodeTfJobStatusTest, ReplicasStandUnderTheKeysOfTheApiWithoutZeros) {
  JobStatus status;
  status.replica_statuses[Role::kPs] = {.desired = 1, .active = 1, .ready = 1};
  status.replica_statuses[Role::kChief] = {.desired = 1, .succeeded = 1};
  EXPECT_EQ(Json::parse(EncodeStatus(TfJob(), status))["replicaStatuses"], Json::parse(R"({
      "PS": {"active": 1, "selector": "training.kubeflow.org/job-name=dist,)"
      R"(training.kubeflow.org/operator-name=tfjob-controller,)"
      R"(training.kubeflow.org/replica-type=ps"},
      "Master": {"succeeded": 1, "selector": "training.kubeflow.org/job-name=dist,)"
      R"(training.kubeflow.org/operator-name=tfjob-controller,)"
      R"(training.kubeflow.org/replica-type=master"}})"));
}

TEST(ReadTfJobStatusTest, WithoutAStateItIsTheLastConditionThatHolds) {
  Json stored = Json::parse(kStoredTfJob);
  const auto state = [&stored](std::initializer_list<const char*> holding) {
    stored["status"]["conditions"] = Json::array();
    for (const char* type : holding) {
      stored["status"]["conditions"].push_back({{"type", type}, {"status", "True"}});
    }
    stored["status"]["conditions"].push_back({{"type", "Failed"}, {"status", "False"}});
    const absl::StatusOr<Job> job = DecodeJob(JobKind::kTfJob, stored.dump());
    return job.ok() ? std::string(JobStateName(job->status.state)) : job.status().ToString();
  };
  EXPECT_EQ(state({}), "Pending");
  EXPECT_EQ(state({"Created"}), "Pending");
  EXPECT_EQ(state({"Created", "Running"}), "Running");
  EXPECT_EQ(state({"Created", "Running", "Succeeded"}), "Succeeded");
}

TEST(EncodeTfJobStatusTest, IsValidAndReadBackToTheSameWords) {
  Job job = TfJob();
  JobStatus status = FullStatus();
  status.replica_statuses[Role::kChief] = {.active = 1};
  const std::string encoded = EncodeStatus(job, status);
  Json object = Json::parse(kStoredTfJob);
  object["status"] = Json::parse(encoded);
  EXPECT_EQ(FormatFieldErrors(Validate(JobKind::kTfJob, object.dump())), "");
  const auto back = DecodeJob(JobKind::kTfJob, object.dump());
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(EncodeStatus(job, back->status), encoded);
}

}  // namespace
}  // namespace taas
