#include "operator/api/job_codec.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/stored_job.h"
#include "operator/api/trainingjob_crd.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

// Stored with the value at `pointer` replaced.
std::string With(const std::string& pointer, const Json& value) {
  Json object = Json::parse(kStored);
  object[Json::json_pointer(pointer)] = value;
  return object.dump();
}

TEST(DecodeTrainingJobTest, ReadsWhatAServerStored) {
  const auto job = DecodeJob(JobKind::kTrainingJob, kStored);
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
  const auto job = DecodeJob(JobKind::kTrainingJob,
                             R"({"spec": {"trainer": {}, "roles": {"worker": {}}}})");
  ASSERT_THAT(job, IsOk());
  Json object = Json::parse(R"({"spec": {"trainer": {}, "roles": {"worker": {}}}})");
  TrainingJobSchema().ApplyDefaults(&object);
  const Json& spec = object["spec"];
  EXPECT_EQ(job->spec.roles.at(Role::kWorker).replicas, spec["roles"]["worker"]["replicas"]);
  EXPECT_EQ(job->spec.backoff_limit, spec["backoffLimit"]);
  EXPECT_EQ(spec["cleanPodPolicy"], "Running");
  EXPECT_EQ(job->spec.clean_pod_policy, CleanPodPolicy::kRunning);
}

// A password that stood where a list or an object should stood in the operator's log and in events.
TEST(DecodeTrainingJobTest, AWrongTypeInAContainerOfTheUsersIsNamedAndNotQuoted) {
  for (const char* path : {"/spec/roles/ps/template", "/spec/roles/ps/env",
                           "/spec/roles/ps/template/spec/containers"}) {
    const auto job = DecodeJob(JobKind::kTrainingJob, With(path, "s3cr3t"));
    EXPECT_THAT(job, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("it is a text")));
    EXPECT_THAT(std::string(job.status().message()), testing::Not(HasSubstr("s3cr3t"))) << path;
  }
}

TEST(DecodeTrainingJobTest, AWrongTypeNamesJobAndField) {
  EXPECT_THAT(DecodeJob(JobKind::kTrainingJob, With("/spec/roles/ps/replicas", "2")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("default/mnist: spec.roles.ps.replicas: \"2\" is not a whole")));
  EXPECT_THAT(DecodeJob(JobKind::kTrainingJob, With("/spec/roles/ps/replicas", -1)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("0 or more")));
  EXPECT_THAT(DecodeJob(JobKind::kTrainingJob, With("/spec/roles/ps/replicas", 3e9)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("in range")));
  EXPECT_THAT(DecodeJob(JobKind::kTrainingJob, With("/spec/volumes/0/source", "disk")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("spec.volumes[0].source")));
  EXPECT_THAT(DecodeJob(JobKind::kTrainingJob, With("/spec/trainer", Json())),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("template: is missing")));
  EXPECT_FALSE(DecodeJob(JobKind::kTrainingJob, "[]").ok());
  EXPECT_FALSE(DecodeJob(JobKind::kTrainingJob, "{").ok());
}

// Symptom: after a number out of all bounds had come into its status, a job ran on in spite of
// suspend and activeDeadlineSeconds, and taas could neither list nor delete it.
TEST(DecodeTrainingJobTest, AStatusThatCannotBeReadIsAsGoodAsNone) {
  const Json bad[] = {Json::parse(R"({"progress": {"etaSeconds": 9223372036854775808}})"),
                      {{"progress", {{"step", 1.5}}}},
                      {{"progress", 5}},
                      {{"conditions", "Running"}},
                      {{"conditions", {{{"lastTransitionTime", "soon"}}}}},
                      {{"state", "Dreaming"}},
                      {{"restarts", {{"killed", "often"}}}},
                      {{"replicaStatuses", {{"worker", 3}}}},
                      Json("done"),
                      Json::array()};
  for (const Json& status : bad) {
    const auto job = DecodeJob(JobKind::kTrainingJob, With("/status", status));
    ASSERT_THAT(job, IsOk()) << status;
    EXPECT_EQ(job->status, JobStatus()) << status;
    EXPECT_EQ(Json::parse(job->unreadable_status), status);
    EXPECT_EQ(job->spec.roles.size(), 3u);
  }
  const auto good = DecodeJob(JobKind::kTrainingJob, With("/status", {{"state", "Running"}}));
  ASSERT_THAT(good, IsOk());
  EXPECT_EQ(good->unreadable_status, "");
}

TEST(DecodeTrainingJobTest, WholeNumbersAreReadUpToTheLastThatFits) {
  const auto eta = [](const char* number) -> std::optional<int64_t> {
    const std::string progress = std::string(R"({"etaSeconds": )") + number + "}";
    const auto job =
        DecodeJob(JobKind::kTrainingJob, With("/status/progress", Json::parse(progress)));
    if (!job.ok() || !job->status.progress.has_value()) return std::nullopt;
    return job->status.progress->eta_seconds;
  };
  EXPECT_EQ(eta("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(eta("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(eta("9223372036854775808"), std::nullopt);
  EXPECT_EQ(eta("18446744073709551615"), std::nullopt);
  EXPECT_EQ(eta("4.0"), 4);
  EXPECT_EQ(eta("9.3e18"), std::nullopt);
}

TEST(DecodeTrainingJobTest, ALedgerThatCannotBeReadIsNotTakenForNone) {
  EXPECT_THAT(DecodeJob(JobKind::kTrainingJob,
                        With("/metadata/annotations", {{"taas.dev/ledger", "{"}})),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("taas.dev/ledger")));
}

TEST(DecodeTrainingJobTest, TheLedgerIsInTheAnnotation) {
  Ledger ledger;
  ledger.attempt = 3;
  ledger.replicas[Role::kEvaluator][0].completed = true;
  const Json annotations = {{"taas.dev/ledger", EncodeLedger(ledger)}};
  const auto job = DecodeJob(JobKind::kTrainingJob, With("/metadata/annotations", annotations));
  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->ledger, ledger);
}

TEST(DecodeTrainingJobTest, EachFieldOfTheCrdIsKnownToTheStructOrToTheTrainer) {
  // Symptom: a field that enters the CRD and is forgotten here is accepted by every server and does
  // nothing.
  std::set<std::string> known = {
      "spec.trainer",           "spec.roles",
      "spec.volumes",           "spec.volumes[].name",
      "spec.volumes[].mountPath", "spec.volumes[].readOnly",
      "spec.volumes[].roles",   "spec.volumes[].source",
      "spec.suspend",           "spec.backoffLimit",
      "spec.cleanPodPolicy",    "spec.activeDeadlineSeconds",
      "spec.pendingDeadlineSeconds", "spec.ttlSecondsAfterFinished",
      "spec.successPolicy",     "spec.restartScope",
      "spec.exitCodes",         "spec.exitCodes.preset",
      "spec.exitCodes.retryable", "spec.exitCodes.permanent",
      "spec.schedulingPolicy",  "spec.schedulingPolicy.gang",
      "spec.schedulingPolicy.queue", "spec.schedulingPolicy.priorityClassName",
      "spec.schedulingPolicy.minAvailable",
      "spec.nodeLossSeconds",   "spec.network",
      "spec.network.port",      "spec.network.evaluatorInCluster"};
  for (const std::string role : {"chief", "ps", "worker", "evaluator"}) {
    known.insert("spec.roles." + role);
    for (const std::string field : {"replicas", "restartPolicy", "gpus", "gpuType", "resources",
                                    "env", "envFrom", "template"}) {
      known.insert("spec.roles." + role + "." + field);
    }
  }
  for (const std::string field : {"elastic", "elastic.minReplicas", "elastic.maxReplicas"}) {
    known.insert("spec.roles.worker." + field);
  }
  std::set<std::string> in_crd;
  for (const std::string& path : TrainingJobSchema().FieldPaths()) {
    if (path.rfind("spec.", 0) != 0) continue;
    if (path.rfind("spec.trainer.", 0) == 0) continue;            // Handed on whole.
    if (path.rfind("spec.volumes[].source.", 0) == 0) continue;  // Likewise.
    const bool kept = path.find(".template.") != std::string::npos ||
                      path.find(".resources.") != std::string::npos ||
                      path.find(".env[]") != std::string::npos ||
                      path.find(".envFrom[]") != std::string::npos;
    if (!kept) in_crd.insert(path);  // The others go into the pods as they are.
  }
  // Says which is missing.
  EXPECT_THAT(in_crd, testing::ContainerEq(known));
}

TEST(DecodeTrainingJobTest, EachPolicyOfTheManifestIsRead) {
  Json object = Json::parse(kStored);
  object["spec"].update(Json::parse(R"({
      "suspend": true, "activeDeadlineSeconds": 3600, "pendingDeadlineSeconds": 60,
      "ttlSecondsAfterFinished": 0, "successPolicy": "AllWorkers", "restartScope": "Job",
      "exitCodes": {"preset": "AtLeast128", "retryable": [1, 3], "permanent": [139]},
      "schedulingPolicy": {"gang": "Required", "queue": "q", "priorityClassName": "high",
                           "minAvailable": 3},
      "nodeLossSeconds": 5, "network": {"port": 3000, "evaluatorInCluster": "None"}})"));
  const auto job = DecodeJob(JobKind::kTrainingJob, object.dump());
  ASSERT_THAT(job, IsOk());
  const JobSpec& spec = job->spec;
  EXPECT_TRUE(spec.suspend);
  EXPECT_EQ(spec.active_deadline_seconds, 3600);
  EXPECT_EQ(spec.pending_deadline_seconds, 60);
  EXPECT_EQ(spec.ttl_seconds_after_finished, 0);
  EXPECT_EQ(spec.success_policy, SuccessPolicy::kAllWorkers);
  EXPECT_EQ(spec.restart_scope, RestartScope::kJob);
  EXPECT_EQ(spec.exit_codes,
            (ExitCodeRules{ExitCodeRules::Preset::kAtLeast128, {1, 3}, {139}}));
  EXPECT_EQ(spec.scheduling, (SchedulingPolicy{.gang_required = true,
                                               .queue = "q",
                                               .priority_class = "high",
                                               .min_available = 3}));
  EXPECT_EQ(spec.node_loss_seconds, 5);
  EXPECT_EQ(spec.port, 3000);
  EXPECT_EQ(spec.evaluator_in_cluster, EvaluatorInCluster::kNone);
}

TEST(DecodeTrainingJobTest, TheBoundsOfElasticWorkersAreRead) {
  Json object = Json::parse(kStored);
  const auto read = [&](const char* elastic) {
    object["spec"]["roles"]["worker"]["elastic"] = Json::parse(elastic);
    return DecodeJob(JobKind::kTrainingJob, object.dump());
  };
  EXPECT_EQ(read("{}")->spec.roles.at(Role::kWorker).elastic, (ElasticSpec{1, 10'000}));
  EXPECT_EQ(read(R"({"minReplicas": 2, "maxReplicas": 8})")->spec.roles.at(Role::kWorker).elastic,
            (ElasticSpec{2, 8}));
  EXPECT_EQ(read("null")->spec.roles.at(Role::kWorker).elastic, std::nullopt);
  // As one that is stored under a CRD without our rules.
  EXPECT_FALSE(read(R"({"minReplicas": 0})").ok());
  EXPECT_FALSE(read(R"({"minReplicas": 9, "maxReplicas": 8})").ok());
}

TEST(DecodeTrainingJobTest, EachFieldOfARoleIsReadOrKeptAsItWasWritten) {
  Json object = Json::parse(kStored);
  object["spec"]["roles"]["evaluator"] = Json::parse(R"({
      "replicas": 1, "restartPolicy": "OnFailure", "gpus": 2, "gpuType": "H200",
      "resources": {"limits": {"memory": "1Gi"}}, "env": [{"name": "A", "value": "b"}],
      "envFrom": [{"secretRef": {"name": "s"}}],
      "template": {"spec": {"containers": [{"name": "log", "image": "l"}, {"name": "trainer",
          "ports": [{"name": "http", "containerPort": 80}, {"name": "taas", "containerPort": 9}],
          "resources": {"limits": {"nvidia.com/gpu": 7}}}]}}})");
  const auto job = DecodeJob(JobKind::kTrainingJob, object.dump());
  ASSERT_THAT(job, IsOk());
  const RoleSpec& role = job->spec.roles.at(Role::kEvaluator);
  const Json& written = object["spec"]["roles"]["evaluator"];
  EXPECT_EQ(role.restart_policy, RestartPolicy::kOnFailure);
  EXPECT_EQ(role.gpus, 2);
  EXPECT_EQ(role.gpu_limit, 7);
  EXPECT_EQ(role.GpusHeld(), 2);
  EXPECT_EQ(role.gpu_type, "H200");
  EXPECT_EQ(Json::parse(role.resources), written["resources"]);
  EXPECT_EQ(Json::parse(role.env), written["env"]);
  EXPECT_EQ(Json::parse(role.env_from), written["envFrom"]);
  EXPECT_EQ(Json::parse(role.pod_template), written["template"]);
  EXPECT_EQ(role.container, 1);
  EXPECT_EQ(role.port, 9);
  ASSERT_EQ(role.ports.size(), 2u);
  EXPECT_EQ(role.ports[0].name, "http");
  EXPECT_EQ(role.ports[0].port, 80);
  EXPECT_EQ(role.ports[1].port, 9);
  EXPECT_EQ(job->spec.roles.at(Role::kWorker).restart_policy, RestartPolicy::kExitCode);
}

Json OwnImage(const std::string& containers) {
  Json object = Json::parse(R"({"metadata": {"name": "a"}, "spec": {"roles": {"worker": {}}}})");
  object["spec"]["roles"]["worker"]["template"]["spec"]["containers"] = Json::parse(containers);
  return object;
}

TEST(DecodeTrainingJobTest, AnOwnImagesContainerIsTheOneNamedTrainerOrTheOnlyOne) {
  const auto only = DecodeJob(JobKind::kTrainingJob,
                              OwnImage(R"([{"name": "main", "image": "i",
      "resources": {"limits": {"nvidia.com/gpu": "4"}}}])").dump());
  ASSERT_THAT(only, IsOk());
  EXPECT_FALSE(only->spec.bundled_trainer);
  EXPECT_EQ(only->spec.roles.at(Role::kWorker).container, 0);
  EXPECT_EQ(only->spec.roles.at(Role::kWorker).gpu_limit, 4);
  const auto named = DecodeJob(JobKind::kTrainingJob,
                               OwnImage(R"([{"name": "a"}, {"name": "trainer"}])").dump());
  ASSERT_THAT(named, IsOk());
  EXPECT_EQ(named->spec.roles.at(Role::kWorker).container, 1);
  EXPECT_THAT(DecodeJob(JobKind::kTrainingJob,
                        OwnImage(R"([{"name": "a"}, {"name": "b"}])").dump()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("spec.roles.worker.template.spec.containers")));
  EXPECT_THAT(DecodeJob(JobKind::kTrainingJob,
                        OwnImage(R"([{"name": "a", "resources": {"limits":
                            {"nvidia.com/gpu": "many"}}}])").dump()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a number of GPUs")));
}

Json WithPorts(const std::string& ports) {
  Json object = OwnImage(R"([{"name": "trainer"}])");
  object["spec"]["roles"]["worker"]["template"]["spec"]["containers"][0]["ports"] =
      Json::parse(ports);
  return object;
}

TEST(DecodeTrainingJobTest, PortsAreThoseWithANumberAndTheFirstOfOurNameIsTheClusters) {
  const auto job = DecodeJob(JobKind::kTrainingJob, WithPorts(R"([2222, {}, {"containerPort": 7},
      {"name": "taas", "containerPort": 1}, {"name": "taas", "containerPort": 65535}])").dump());
  ASSERT_THAT(job, IsOk());
  const RoleSpec& role = job->spec.roles.at(Role::kWorker);
  EXPECT_EQ(role.port, 1);
  ASSERT_EQ(role.ports.size(), 3u);
  EXPECT_EQ(role.ports[0].name, "");
  EXPECT_EQ(role.ports[0].port, 7);
  EXPECT_EQ(role.ports[2].port, 65535);
}

// Symptom: the definition of a TFJob does not look at ports, and a service with such a port was
// tried again without end.
TEST(DecodeTrainingJobTest, APortThatIsNoneIsNamed) {
  for (const char* port : {"-1", "0", "65536", "70000", "99999999999", "1.5", R"("80")"}) {
    const std::string ports = R"([{"containerPort": )" + std::string(port) + "}]";
    const auto job = DecodeJob(JobKind::kTrainingJob, WithPorts(ports).dump());
    EXPECT_THAT(job, StatusIs(absl::StatusCode::kInvalidArgument,
                              HasSubstr("containers[0].ports[0].containerPort: ")))
        << port;
  }
}

// A server keeps 10,000 levels in a template; what is recursive here is not to try.
TEST(DecodeJobTest, WhatIsNestedWithoutEndIsRefusedForBothKinds) {
  const std::string levels = std::string(9'990, '[') + std::string(9'990, ']');
  const std::string tail = R"("template": {"deep": )" + levels + "}}}}}";
  const std::string role = R"({"metadata": {"name": "a"}, "spec": {)";
  for (const auto& [kind, text] : {
           std::pair{JobKind::kTrainingJob, role + R"("roles": {"worker": {)" + tail},
           std::pair{JobKind::kTfJob, role + R"("tfReplicaSpecs": {"Worker": {)" + tail}}) {
    EXPECT_THAT(DecodeJob(kind, text), StatusIs(absl::StatusCode::kInvalidArgument,
                                                HasSubstr("nested more than 100 levels deep")));
  }
}

TEST(DecodeTrainingJobTest, GpusMayStandInTheResourcesOfARole) {
  const auto job = DecodeJob(
      JobKind::kTrainingJob,
      With("/spec/roles/worker/resources", {{"limits", {{"nvidia.com/gpu", 2}}}}));
  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->spec.roles.at(Role::kWorker).GpusHeld(), 2);
  EXPECT_EQ(job->spec.roles.at(Role::kPs).GpusHeld(), 0);
}

TEST(DecodeTrainingJobTest, TheBundledTrainersContainerMayBeAdded) {
  Json object = Json::parse(kStored);
  object["spec"]["roles"]["ps"]["template"] =
      Json::parse(R"({"spec": {"containers": [{"name": "log", "image": "l"}]}})");
  const auto job = DecodeJob(JobKind::kTrainingJob, object.dump());
  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->spec.roles.at(Role::kPs).container, -1);
}

TEST(DecodeTrainingJobTest, AnUnknownNameOfAPolicySaysWhatIsKnown) {
  EXPECT_THAT(DecodeJob(JobKind::kTrainingJob, With("/spec/roles/ps/restartPolicy", "Sometimes")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("spec.roles.ps.restartPolicy: \"Sometimes\" is not Always, "
                                 "OnFailure, Never or ExitCode")));
  EXPECT_THAT(DecodeJob(JobKind::kTrainingJob, With("/spec/exitCodes", {{"retryable", {"1"}}})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("spec.exitCodes.retryable[0]: \"1\" is not a whole number")));
}

Json TfObject() {
  return Json::parse(R"({
    "metadata": {"name": "dist", "namespace": "ns"},
    "spec": {
      "tfReplicaSpecs": {
        "Ps": {"template": {"spec": {"containers": [{"name": "tensorflow", "image": "i",
            "ports": [{"containerPort": 2345, "name": "tfjob-port"}]}]}}},
        "WORKER": {"replicas": 3, "restartPolicy": "ExitCode", "template": {
            "metadata": {"creationTimestamp": null},
            "spec": {"containers": [{"name": "log", "image": "l"}, {"name": "tensorflow",
                "image": "i", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}}}}}})");
}

TEST(DecodeTfJobTest, RolesAreReadInAnyCaseWithTheDefaultsOfTheApi) {
  const auto job = DecodeJob(JobKind::kTfJob, TfObject().dump());
  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->kind, JobKind::kTfJob);
  const JobSpec& spec = job->spec;
  EXPECT_FALSE(spec.bundled_trainer);
  EXPECT_FALSE(spec.chief_is_master);
  const RoleSpec& ps = spec.roles.at(Role::kPs);
  EXPECT_EQ(ps.replicas, 1);
  EXPECT_EQ(ps.restart_policy, RestartPolicy::kNever);
  EXPECT_EQ(ps.port, 2345);
  const RoleSpec& worker = spec.roles.at(Role::kWorker);
  EXPECT_EQ(worker.replicas, 3);
  EXPECT_EQ(worker.restart_policy, RestartPolicy::kExitCode);
  EXPECT_EQ(worker.container, 1);
  EXPECT_EQ(worker.port, 0);
  EXPECT_EQ(worker.gpus, 0) << "the operator would ask for GPUs of its own beside the limit";
  EXPECT_EQ(worker.GpusHeld(), 1);
  EXPECT_EQ(Json::parse(worker.pod_template),
            TfObject()["spec"]["tfReplicaSpecs"]["WORKER"]["template"]);
  EXPECT_EQ(spec.backoff_limit, std::nullopt);
  EXPECT_EQ(spec.clean_pod_policy, CleanPodPolicy::kNone);
  EXPECT_EQ(spec.exit_codes.preset, ExitCodeRules::Preset::kAtLeast128);
  EXPECT_EQ(spec.evaluator_in_cluster, EvaluatorInCluster::kAll);
  EXPECT_EQ(spec.success_policy, SuccessPolicy::kAuto);
  EXPECT_EQ(spec.managed_by, "");
}

TEST(DecodeTfJobTest, PoliciesAreReadFromBothDialectsAndThatOfRunPolicyCounts) {
  Json object = TfObject();
  object["spec"]["backoffLimit"] = 2;
  object["spec"]["cleanPodPolicy"] = "All";
  object["spec"]["activeDeadlineSeconds"] = 5;
  object["spec"]["ttlSecondsAfterFinished"] = 6;
  auto job = DecodeJob(JobKind::kTfJob, object.dump());
  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->spec.backoff_limit, 2);
  EXPECT_EQ(job->spec.clean_pod_policy, CleanPodPolicy::kAll);
  EXPECT_EQ(job->spec.active_deadline_seconds, 5);
  EXPECT_EQ(job->spec.ttl_seconds_after_finished, 6);
  object["spec"]["runPolicy"] = Json::parse(R"({
      "backoffLimit": 7, "cleanPodPolicy": "Running", "suspend": true,
      "managedBy": "kueue.x-k8s.io/multikueue",
      "schedulingPolicy": {"minAvailable": 3, "queue": "q", "priorityClass": "high",
                           "minResources": {"cpu": 4}, "scheduleTimeoutSeconds": 60}})");
  object["spec"]["successPolicy"] = "AllWorkers";
  object["spec"]["enableDynamicWorker"] = true;
  job = DecodeJob(JobKind::kTfJob, object.dump());
  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->spec.backoff_limit, 7);
  EXPECT_EQ(job->spec.clean_pod_policy, CleanPodPolicy::kRunning);
  EXPECT_EQ(job->spec.active_deadline_seconds, 5);
  EXPECT_TRUE(job->spec.suspend);
  EXPECT_EQ(job->spec.managed_by, "kueue.x-k8s.io/multikueue");
  EXPECT_EQ(job->spec.scheduling, (SchedulingPolicy{.queue = "q",
                                                    .priority_class = "high",
                                                    .min_available = 3,
                                                    .min_resources = R"({"cpu":4})",
                                                    .schedule_timeout_seconds = 60}));
  EXPECT_EQ(job->spec.success_policy, SuccessPolicy::kAllWorkers);
  EXPECT_TRUE(job->spec.dynamic_worker);
  object["spec"]["runPolicy"]["managedBy"] = "kubeflow.org/training-operator";
  EXPECT_EQ(DecodeJob(JobKind::kTfJob, object.dump())->spec.managed_by, "");
}

TEST(DecodeTfJobTest, AGangOfNoneIsAGangOfAll) {
  Json object = TfObject();
  object["spec"]["runPolicy"]["schedulingPolicy"] = {{"minAvailable", 0}};
  const auto job = DecodeJob(JobKind::kTfJob, object.dump());
  ASSERT_THAT(job, IsOk());
  EXPECT_FALSE(job->spec.scheduling.min_available.has_value());
}

// What a server adds to the metadata of a job whose status two programs wrote.
Json WrittenBy(const char* manager, const char* subresource, const char* time) {
  return {{"manager", manager}, {"operation", "Update"}, {"subresource", subresource},
          {"apiVersion", "kubeflow.org/v1"}, {"time", time}, {"fieldsType", "FieldsV1"},
          {"fieldsV1", {{"f:status", Json::object()}}}};
}

TEST(DecodeTfJobTest, TheLastWriteOfAnotherControllerToTheStatusIsSeen) {
  Json object = TfObject();
  object["metadata"]["managedFields"] = {
      WrittenBy("kubectl-edit", "status", "2026-11-21T06:00:00Z"),
      WrittenBy("taas-operator", "status", "2026-11-21T06:00:00Z"),
      WrittenBy("manager", "", "2026-11-21T06:00:00Z")};
  EXPECT_FALSE(DecodeJob(JobKind::kTfJob, object.dump())->other_controller.has_value());
  for (const char* manager : {"manager", "training-operator.v1", "tf-operator.v1", "kubedl"}) {
    SCOPED_TRACE(manager);
    object["metadata"]["managedFields"][3] = WrittenBy(manager, "status", "2026-11-21T05:00:00Z");
    object["metadata"]["managedFields"][4] = WrittenBy(manager, "status", "2026-11-21T05:01:00Z");
    const auto job = DecodeJob(JobKind::kTfJob, object.dump());
    ASSERT_THAT(job, IsOk());
    ASSERT_TRUE(job->other_controller.has_value());
    EXPECT_EQ(job->other_controller->name, manager);
    EXPECT_EQ(FormatRfc3339(job->other_controller->wrote_at), "2026-11-21T05:01:00Z");
  }
}

TEST(DecodeTfJobTest, ItsPendingDeadlineIsAnAnnotation) {
  Json object = TfObject();
  Json& text = object["metadata"]["annotations"]["taas.dev/pending-deadline-seconds"];
  text = "900";
  EXPECT_EQ(DecodeJob(JobKind::kTfJob, object.dump())->spec.pending_deadline_seconds, 900);
  for (const char* wrong : {"", "0", "-1", "1.5", "60s", " 60", "315360001", "1e3"}) {
    text = wrong;
    EXPECT_THAT(DecodeJob(JobKind::kTfJob, object.dump()),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("taas.dev/pending-deadline-seconds"),
                               HasSubstr("a whole number of seconds"))))
        << wrong;
  }
  object["metadata"].erase("annotations");
  EXPECT_FALSE(
      DecodeJob(JobKind::kTfJob, object.dump())->spec.pending_deadline_seconds.has_value());
}

TEST(DecodeTfJobTest, AMasterIsAChiefByAnotherName) {
  Json object = TfObject();
  object["spec"]["tfReplicaSpecs"]["master"] = object["spec"]["tfReplicaSpecs"]["Ps"];
  const auto job = DecodeJob(JobKind::kTfJob, object.dump());
  ASSERT_THAT(job, IsOk());
  EXPECT_TRUE(job->spec.chief_is_master);
  EXPECT_EQ(job->spec.roles.count(Role::kChief), 1u);
}

TEST(DecodeTfJobTest, WhatTheSchemaRefusesIsAnErrorThatNamesTheField) {
  Json object = TfObject();
  object["spec"]["tfReplicaSpecs"]["Worker"] = object["spec"]["tfReplicaSpecs"]["Ps"];
  EXPECT_THAT(DecodeJob(JobKind::kTfJob, object.dump()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("ns/dist: spec.tfReplicaSpecs.Worker: stands for the role")));
  object = TfObject();
  object["spec"]["tfReplicaSpecs"]["Server"] = object["spec"]["tfReplicaSpecs"]["Ps"];
  EXPECT_THAT(DecodeJob(JobKind::kTfJob, object.dump()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("spec.tfReplicaSpecs.Server: is not PS")));
  object = TfObject();
  object["spec"]["tfReplicaSpecs"]["Ps"]["template"]["spec"]["containers"][0]["name"] = "main";
  EXPECT_THAT(DecodeJob(JobKind::kTfJob, object.dump()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is named tensorflow")));
}

}  // namespace
}  // namespace taas
