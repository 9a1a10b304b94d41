#include "operator/api/training_job_codec.h"

#include <cmath>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/trainingjob_crd.h"
#include "operator/api/validation.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr char kStored[] = R"({
  "apiVersion": "taas.dev/v1", "kind": "TrainingJob",
  "metadata": {"name": "mnist", "namespace": "default", "uid": "u-1", "resourceVersion": "7",
               "generation": 3, "creationTimestamp": "2026-11-21T05:54:17Z", "unknown": {}},
  "spec": {
    "trainer": {"image": "i:1", "model": {"name": "mlp", "hidden": [500]},
                "data": {"format": "idx"},
                "strategy": {"type": "ParameterServer", "mode": "Async"}, "maxSteps": 2000,
                "checkpoint": {"dir": "/out/c"}, "later": [1]},
    "roles": {"chief": {"replicas": 1}, "ps": {"replicas": 2},
              "worker": {"replicas": 3, "later": 1}},
    "volumes": [{"name": "data", "mountPath": "/data", "readOnly": true, "roles": ["ps", "worker"],
                 "source": {"persistentVolumeClaim": {"claimName": "c"}}}],
    "backoffLimit": 2, "cleanPodPolicy": "All", "later": {}}})";

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

Ledger FullLedger() {
  Ledger ledger;
  ledger.attempt = 3;
  ledger.restarts = {{RestartCause::kUserError, 1},  {RestartCause::kOutOfMemory, 2},
                     {RestartCause::kKilled, 3},     {RestartCause::kPreempted, 4},
                     {RestartCause::kNodeLost, 5},   {RestartCause::kBadNode, 6}};
  ledger.replicas[Role::kChief][0] = {.pod_number = 2, .completed = true};
  ledger.replicas[Role::kWorker][11] = {.pod_number = 9,
                                        .quick_failures = 3,
                                        .not_before = At(5) + nanoseconds(123'456'789),
                                        .avoid_nodes = {"node-a", "node-b"},
                                        .port = 20001,
                                        .status_port = 20002};
  ledger.replicas[Role::kPs] = {};
  ledger.outcome = JobState::kFailed;
  ledger.outcome_reason = "PermanentError";
  ledger.outcome_message = "open /data: \"no such file\"";
  ledger.outcome_time = At(6) + nanoseconds(1);
  return ledger;
}

// Stored with `status`, as an object.
std::string WithStatus(const std::string& status) {
  Json object = Json::parse(kStored);
  object["status"] = Json::parse(status);
  return object.dump();
}

// Stored with the value at `pointer` replaced.
std::string With(const std::string& pointer, const Json& value) {
  Json object = Json::parse(kStored);
  object[Json::json_pointer(pointer)] = value;
  return object.dump();
}

TEST(DecodeTrainingJobTest, ReadsWhatAServerStored) {
  const auto job = DecodeTrainingJob(kStored);
  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->meta.name, "mnist");
  EXPECT_EQ(job->meta.ns, "default");
  EXPECT_EQ(job->meta.uid, "u-1");
  EXPECT_EQ(job->meta.resource_version, "7");
  EXPECT_EQ(job->meta.generation, 3);
  EXPECT_TRUE(job->meta.creation_time.has_value());
  EXPECT_FALSE(job->meta.deletion_time.has_value());
  const TrainerSpec& trainer = job->spec.trainer;
  EXPECT_EQ(trainer.image, "i:1");
  EXPECT_EQ(trainer.checkpoint_dir, "/out/c");
  EXPECT_EQ(trainer.max_steps, 2000);
  EXPECT_FALSE(trainer.local_strategy);
  Json config = Json::parse(kStored)["spec"]["trainer"];
  config.erase("image");
  EXPECT_EQ(Json::parse(trainer.config), config);
  EXPECT_EQ(job->spec.roles.at(Role::kWorker).replicas, 3);
  EXPECT_EQ(job->spec.roles.size(), 3u);
  ASSERT_EQ(job->spec.volumes.size(), 1u);
  EXPECT_EQ(job->spec.volumes[0].mount_path, "/data");
  EXPECT_TRUE(job->spec.volumes[0].read_only);
  EXPECT_EQ(job->spec.volumes[0].roles, (std::vector<Role>{Role::kPs, Role::kWorker}));
  EXPECT_EQ(job->spec.volumes[0].source, R"({"persistentVolumeClaim":{"claimName":"c"}})");
  EXPECT_EQ(job->spec.backoff_limit, 2);
  EXPECT_EQ(job->spec.clean_pod_policy, CleanPodPolicy::kAll);
  EXPECT_FALSE(job->ledger.has_value());
  EXPECT_EQ(job->status, JobStatus());
}

TEST(DecodeTrainingJobTest, AbsentFieldsGetTheSchemasDefaults) {
  const auto job = DecodeTrainingJob(R"({"spec": {"trainer": {}, "roles": {"worker": {}}}})");
  ASSERT_THAT(job, IsOk());
  Json object = Json::parse(R"({"spec": {"trainer": {}, "roles": {"worker": {}}}})");
  TrainingJobSchema().ApplyDefaults(&object);
  const Json& spec = object["spec"];
  EXPECT_EQ(job->spec.roles.at(Role::kWorker).replicas, spec["roles"]["worker"]["replicas"]);
  EXPECT_EQ(job->spec.backoff_limit, spec["backoffLimit"]);
  EXPECT_EQ(spec["cleanPodPolicy"], "Running");
  EXPECT_EQ(job->spec.clean_pod_policy, CleanPodPolicy::kRunning);
  EXPECT_EQ(job->spec.trainer.local_strategy, spec["trainer"]["strategy"]["type"] == "Local");
}

TEST(DecodeTrainingJobTest, AWrongTypeNamesJobAndField) {
  EXPECT_THAT(DecodeTrainingJob(With("/spec/roles/ps/replicas", "2")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("default/mnist: spec.roles.ps.replicas: \"2\" is not a whole")));
  EXPECT_THAT(DecodeTrainingJob(With("/spec/roles/ps/replicas", -1)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("0 or more")));
  EXPECT_THAT(DecodeTrainingJob(With("/spec/roles/ps/replicas", 3e9)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("in range")));
  EXPECT_THAT(DecodeTrainingJob(With("/spec/volumes/0/source", "disk")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("spec.volumes[0].source")));
  EXPECT_THAT(DecodeTrainingJob(With("/spec/trainer", Json())),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("template: is missing")));
  EXPECT_FALSE(DecodeTrainingJob("[]").ok());
  EXPECT_FALSE(DecodeTrainingJob("{").ok());
}

TEST(DecodeTrainingJobTest, ALedgerThatCannotBeReadIsNotTakenForNone) {
  EXPECT_THAT(DecodeTrainingJob(With("/metadata/annotations", {{"taas.dev/ledger", "{"}})),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("taas.dev/ledger")));
}

TEST(DecodeTrainingJobTest, TheLedgerIsInTheAnnotation) {
  const Json annotations = {{"taas.dev/ledger", EncodeLedger(FullLedger())}};
  const auto job = DecodeTrainingJob(With("/metadata/annotations", annotations));
  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->ledger, FullLedger());
}

TEST(DecodeTrainingJobTest, EachFieldOfTheCrdIsKnownToTheStructOrToTheTrainer) {
  // Symptom: a field that enters the CRD and is forgotten here is accepted by every server and does
  // nothing.
  const std::set<std::string> known = {
      "spec.trainer", "spec.roles", "spec.roles.chief", "spec.roles.chief.replicas",
      "spec.roles.ps", "spec.roles.ps.replicas", "spec.roles.worker", "spec.roles.worker.replicas",
      "spec.volumes",
      "spec.volumes[].name", "spec.volumes[].mountPath", "spec.volumes[].readOnly",
      "spec.volumes[].roles", "spec.volumes[].source", "spec.backoffLimit", "spec.cleanPodPolicy"};
  std::set<std::string> in_crd;
  for (const std::string& path : TrainingJobSchema().FieldPaths()) {
    if (path.rfind("spec.", 0) != 0) continue;
    if (path.rfind("spec.trainer.", 0) == 0) continue;            // Handed on whole.
    if (path.rfind("spec.volumes[].source.", 0) == 0) continue;  // Likewise.
    in_crd.insert(path);
  }
  EXPECT_EQ(in_crd, known);
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

TEST(EncodeStatusTest, TheFieldsOfTheCrdAndOfTheStructAreTheSame) {
  JobStatus status = FullStatus();
  status.replica_statuses[Role::kChief] = {};
  for (const RestartCause cause : {RestartCause::kOutOfMemory, RestartCause::kPreempted,
                                   RestartCause::kNodeLost, RestartCause::kBadNode}) {
    status.restarts[cause] = 1;
  }
  std::set<std::string> encoded;
  Paths(Json::parse(EncodeStatus(status)), "status", &encoded);
  std::set<std::string> in_crd;
  for (const std::string& path : TrainingJobSchema().FieldPaths()) {
    if (path.rfind("status", 0) == 0) in_crd.insert(path);
  }
  EXPECT_EQ(encoded, in_crd);
}

TEST(EncodeStatusTest, IsReadBackAsItWas) {
  const auto job = DecodeTrainingJob(WithStatus(EncodeStatus(FullStatus())));
  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->status, FullStatus());
}

TEST(EncodeStatusTest, RestartCountIsTheSum) {
  EXPECT_EQ(Json::parse(EncodeStatus(FullStatus()))["restartCount"], 3);
  EXPECT_EQ(Json::parse(EncodeStatus(JobStatus()))["restartCount"], 0);
}

TEST(EncodeStatusTest, IsValidWhateverItHolds) {
  JobStatus status = FullStatus();
  status.message = std::string(40'000, 'x');
  status.message.replace(32'766, 4, "\xF0\x9F\x98\x80");  // A character across the limit.
  status.conditions[0].message = "not UTF-8: \xFF\xFE";
  status.conditions[0].reason = std::string(2000, 'r');
  status.progress->loss = std::numeric_limits<double>::quiet_NaN();
  status.progress->examples_per_second = std::numeric_limits<double>::infinity();
  status.progress->data_source = std::string(5000, 'd');
  Json object = Json::parse(WithStatus(EncodeStatus(status)));
  EXPECT_FALSE(object["status"]["progress"].contains("loss"));
  EXPECT_FALSE(object["status"]["progress"].contains("examplesPerSecond"));
  EXPECT_EQ(object["status"]["message"], std::string(32'766, 'x'));
  object["metadata"].erase("unknown");
  object["spec"]["trainer"].erase("later");
  object["spec"]["roles"]["worker"].erase("later");
  object["spec"].erase("later");
  object["spec"]["trainer"]["data"] = {{"format", "generated"}};
  EXPECT_EQ(FormatFieldErrors(ValidateTrainingJob(object.dump())), "");
}

TEST(LedgerTest, IsReadBackAsItWasToTheNanosecond) {
  const auto back = DecodeLedger(EncodeLedger(FullLedger()));
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(*back, FullLedger());
  EXPECT_EQ(DecodeLedger(EncodeLedger(Ledger())).value(), Ledger());
}

TEST(LedgerTest, AReplicaAtItsBeginningTakesFewBytes) {
  Ledger ledger;
  for (int32_t i = 0; i < 1000; ++i) ledger.replicas[Role::kWorker][i] = {};
  EXPECT_LT(EncodeLedger(ledger).size(), 17'000u);
  EXPECT_EQ(DecodeLedger(EncodeLedger(ledger)).value(), ledger);
}

struct BadLedger {
  const char* name;
  const char* text;
  const char* words;
};

class BadLedgerTest : public testing::TestWithParam<BadLedger> {};

TEST_P(BadLedgerTest, NamesTheField) {
  EXPECT_THAT(DecodeLedger(GetParam().text),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().words)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadLedgerTest,
    testing::Values(BadLedger{"NoJson", "{", "not JSON"}, BadLedger{"NoObject", "3", "JSON object"},
                    BadLedger{"Index", R"({"replicas": {"ps": {"1x": {}}}})", "ps.1x"},
                    BadLedger{"NegativeIndex", R"({"replicas": {"ps": {"-1": {}}}})", "ps.-1"},
                    BadLedger{"Pod", R"({"replicas": {"ps": {"1": {"pod": "a"}}}})", "ps.1.pod"},
                    BadLedger{"Role", R"({"replicas": {"ps": []}})", "replicas.ps"},
                    BadLedger{"Outcome", R"({"outcome": "Done"})", "outcome"},
                    BadLedger{"Time", R"({"outcomeTime": "noon"})", "outcomeTime"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(LedgerTest, FieldsOfALaterReleaseAreIgnored) {
  EXPECT_EQ(DecodeLedger(R"({"attempt": 2, "later": 1, "restarts": {"hang": 4}})").value(),
            (Ledger{.attempt = 2}));
}

}  // namespace
}  // namespace taas
