#include "operator/api/convert.h"

#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/dialect.h"
#include "operator/api/job_codec.h"
#include "operator/api/manifest_cases.h"
#include "operator/api/validation.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

Json TfJob() {
  return Json::parse(R"({
    "apiVersion": "kubeflow.org/v1", "kind": "TFJob",
    "metadata": {"name": "dist", "namespace": "ns", "labels": {"a": "b"}, "uid": "u",
                 "annotations": {"taas.dev/ledger": "{}", "c": "d"}},
    "spec": {
      "cleanPodPolicy": "Running", "backoffLimit": 3, "successPolicy": "AllWorkers",
      "runPolicy": {"ttlSecondsAfterFinished": 60, "suspend": true},
      "tfReplicaSpecs": {
        "Chief": {"template": {"spec": {"containers": [{"name": "tensorflow", "image": "i",
            "ports": [{"containerPort": 2345, "name": "tfjob-port"}]}]}}},
        "ps": {"replicas": 2, "template": {"spec": {"containers": [{"name": "tensorflow",
            "image": "i", "ports": [{"containerPort": 2345, "name": "tfjob-port"}]}]}}},
        "Worker": {"replicas": 3, "restartPolicy": "ExitCode", "template": {
            "metadata": {"creationTimestamp": null, "labels": {"x": "y"}},
            "spec": {"nodeSelector": {"disk": "ssd"}, "containers": [
                {"name": "log", "image": "l"},
                {"name": "tensorflow", "image": "i", "workingDir": "/w",
                 "ports": [{"containerPort": 2345, "name": "tfjob-port"},
                           {"containerPort": 80, "name": "http"}],
                 "resources": {"limits": {"nvidia.com/gpu": 1}}}]}}}}}})");
}

TEST(ConvertTfJobTest, TheTrainingJobIsValidAndDecodesToAnEquivalentJob) {
  const auto converted = ConvertTfJob(TfJob().dump());
  ASSERT_THAT(converted, IsOk());
  EXPECT_EQ(FormatFieldErrors(Validate(JobKind::kTrainingJob, converted->manifest)), "");
  const auto from = DecodeJob(JobKind::kTfJob, TfJob().dump());
  const auto to = DecodeJob(JobKind::kTrainingJob, converted->manifest);
  ASSERT_THAT(from, IsOk());
  ASSERT_THAT(to, IsOk());
  EXPECT_EQ(to->meta.name, "dist");
  EXPECT_EQ(to->meta.ns, "ns");
  EXPECT_FALSE(to->spec.bundled_trainer);
  EXPECT_EQ(to->spec.port, 2345);
  EXPECT_EQ(to->spec.evaluator_in_cluster, from->spec.evaluator_in_cluster);
  EXPECT_EQ(to->spec.suspend, from->spec.suspend);
  EXPECT_EQ(to->spec.backoff_limit, from->spec.backoff_limit);
  EXPECT_EQ(to->spec.clean_pod_policy, from->spec.clean_pod_policy);
  EXPECT_EQ(to->spec.success_policy, from->spec.success_policy);
  EXPECT_EQ(to->spec.exit_codes, from->spec.exit_codes);
  EXPECT_EQ(to->spec.ttl_seconds_after_finished, from->spec.ttl_seconds_after_finished);
  ASSERT_EQ(to->spec.roles.size(), from->spec.roles.size());
  for (const auto& [role, spec] : from->spec.roles) {
    SCOPED_TRACE(RoleName(role));
    const RoleSpec& other = to->spec.roles.at(role);
    EXPECT_EQ(other.replicas, spec.replicas);
    EXPECT_EQ(other.restart_policy, spec.restart_policy);
    EXPECT_EQ(other.container, spec.container);
    EXPECT_EQ(other.gpu_limit, spec.gpu_limit);
  }
}

TEST(ConvertTfJobTest, TemplatesKeepWhatAPodCanHave) {
  const Json spec = Json::parse(ConvertTfJob(TfJob().dump())->manifest)["spec"];
  EXPECT_EQ(spec["roles"]["worker"]["template"], Json::parse(R"({
      "metadata": {"labels": {"x": "y"}},
      "spec": {"nodeSelector": {"disk": "ssd"}, "containers": [
          {"name": "log", "image": "l"},
          {"name": "trainer", "image": "i", "workingDir": "/w",
           "ports": [{"containerPort": 80, "name": "http"}],
           "resources": {"limits": {"nvidia.com/gpu": 1}}}]}})"));
  EXPECT_FALSE(spec["roles"]["ps"]["template"]["spec"]["containers"][0].contains("ports"));
}

TEST(ConvertTfJobTest, TheAnnotationOfItsPendingDeadlineBecomesTheField) {
  Json tf_job = TfJob();
  tf_job["metadata"]["annotations"]["taas.dev/pending-deadline-seconds"] = "900";
  const Json manifest = Json::parse(ConvertTfJob(tf_job.dump())->manifest);
  EXPECT_EQ(manifest["spec"]["pendingDeadlineSeconds"], 900);
  EXPECT_EQ(manifest["metadata"]["annotations"], Json::parse(R"({"c": "d"})"));
}

TEST(ConvertTfJobTest, OfTheMetadataThatOfTheUserStays) {
  EXPECT_EQ(Json::parse(ConvertTfJob(TfJob().dump())->manifest)["metadata"],
            Json::parse(R"({"name": "dist", "namespace": "ns", "labels": {"a": "b"},
                            "annotations": {"c": "d"}})"));
}

struct WarningCase {
  const char* name;
  const char* place;
  const char* value;
  const char* words;
};

class ConvertWarningTest : public testing::TestWithParam<WarningCase> {};

TEST_P(ConvertWarningTest, SaysWhatCannotBeMapped) {
  Json object = TfJob();
  const auto before = ConvertTfJob(object.dump());
  ASSERT_THAT(before, IsOk());
  EXPECT_THAT(before->warnings, testing::Not(Contains(HasSubstr(GetParam().words))));
  object["spec"][Json::json_pointer(GetParam().place)] = Json::parse(GetParam().value);
  const auto converted = ConvertTfJob(object.dump());
  ASSERT_THAT(converted, IsOk());
  EXPECT_THAT(converted->warnings, Contains(HasSubstr(GetParam().words)));
}

constexpr char kTwoEvaluators[] = R"({"replicas": 2, "template": {"spec": {
    "containers": [{"name": "tensorflow", "image": "i"}]}}})";

INSTANTIATE_TEST_SUITE_P(
    Table, ConvertWarningTest,
    testing::Values(
        WarningCase{"NoLimit", "/backoffLimit", "null", "restarts without end"},
        WarningCase{"TwoEvaluators", "/tfReplicaSpecs/Evaluator", kTwoEvaluators,
                    "at most one evaluator; tfReplicaSpecs.Evaluator.replicas was 2"},
        WarningCase{"Ports", "/tfReplicaSpecs/Evaluator", kTwoEvaluators, "different ports"},
        WarningCase{"PodRestartPolicy", "/tfReplicaSpecs/ps/template/spec/restartPolicy",
                    R"("OnFailure")", "tfReplicaSpecs.ps.template.spec.restartPolicy"},
        WarningCase{"TemplateName", "/tfReplicaSpecs/ps/template/metadata", R"({"name": "x"})",
                    "template.metadata.name has no effect"},
        WarningCase{"DynamicWorker", "/enableDynamicWorker", "true", "enableDynamicWorker"},
        WarningCase{"ManagedBy", "/runPolicy/managedBy", R"("kueue.x-k8s.io/multikueue")",
                    "runPolicy.managedBy"},
        WarningCase{"MinResources", "/runPolicy/schedulingPolicy",
                    R"({"minResources": {"cpu": 1}})", "minResources has no counterpart"},
        WarningCase{"ScheduleTimeout", "/runPolicy/schedulingPolicy",
                    R"({"scheduleTimeoutSeconds": 60})",
                    "scheduleTimeoutSeconds has no counterpart"},
        WarningCase{"QueueThatIsNoName", "/runPolicy/schedulingPolicy", R"({"queue": "Team A"})",
                    "spec.schedulingPolicy.queue is left out"},
        WarningCase{"BothDialects", "/runPolicy/backoffLimit", "4", "spec.backoffLimit stood"},
        WarningCase{"NoTime", "/activeDeadlineSeconds", "0", "activeDeadlineSeconds was 0"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ConvertTfJobTest, AMasterBecomesTheChief) {
  Json object = TfJob();
  object["spec"]["tfReplicaSpecs"]["Master"] = object["spec"]["tfReplicaSpecs"]["Chief"];
  object["spec"]["tfReplicaSpecs"].erase("Chief");
  const auto converted = ConvertTfJob(object.dump());
  ASSERT_THAT(converted, IsOk());
  EXPECT_TRUE(Json::parse(converted->manifest)["spec"]["roles"].contains("chief"));
  EXPECT_THAT(converted->warnings, Contains(HasSubstr("Master is called chief now")));
}

TEST(ConvertTfJobTest, WhatIsNoValidTfJobIsRefusedInTheWordsOfValidate) {
  Json object = TfJob();
  object["spec"]["tfReplicaSpecs"]["Worker"]["replicas"] = -1;
  EXPECT_THAT(ConvertTfJob(object.dump()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("spec.tfReplicaSpecs.Worker.replicas: Invalid value: -1")));
}

TEST(ConvertTfJobTest, QueuePriorityAndGangAreThoseOfTheTfJob) {
  Json object = TfJob();
  object["spec"]["runPolicy"]["schedulingPolicy"] =
      Json::parse(R"({"queue": "team-a", "priorityClass": "high", "minAvailable": 4})");
  object["spec"]["tfReplicaSpecs"]["ps"]["template"]["spec"]["priorityClassName"] = "low";
  const auto converted = ConvertTfJob(object.dump());
  ASSERT_THAT(converted, IsOk());
  EXPECT_THAT(converted->warnings, testing::Not(Contains(HasSubstr("schedulingPolicy"))));
  const Json spec = Json::parse(converted->manifest)["spec"];
  EXPECT_EQ(spec["schedulingPolicy"],
            Json::parse(R"({"queue": "team-a", "priorityClassName": "high", "minAvailable": 4})"));
  EXPECT_EQ(spec["roles"]["ps"]["template"]["spec"]["priorityClassName"], "low");
  EXPECT_FALSE(spec["roles"]["worker"]["template"]["spec"].contains("priorityClassName"));
}

// `taas convert` died of these, which a server accepts in a template.
TEST(ConvertTfJobTest, APortThatIsNoneOrHasNoNameIsKeptAsItIs) {
  Json object = TfJob();
  const Json ports = {2222, {{"name", nullptr}, {"containerPort", 80}}};
  object["spec"]["tfReplicaSpecs"]["ps"]["template"]["spec"]["containers"][0]["ports"] = ports;
  const auto converted = ConvertTfJob(object.dump());
  ASSERT_THAT(converted, IsOk());
  const Json role = Json::parse(converted->manifest)["spec"]["roles"]["ps"];
  EXPECT_EQ(role["template"]["spec"]["containers"][0]["ports"], ports);
  EXPECT_THAT(converted->warnings,
              Contains(HasSubstr("containers[0].ports[0]: Invalid value: \"integer\"")));
}

TEST(ConvertTfJobTest, EveryTfJobThatAServerAcceptsIsConverted) {
  std::ifstream file("operator/api/testdata/tfjob_manifests.yaml");
  std::ostringstream text;
  text << file.rdbuf();
  int converted = 0;
  const auto cases = ParseManifestCases(text.str());
  ASSERT_THAT(cases, IsOk());
  for (const ManifestCase& one : *cases) {
    if (one.verdict != Verdict::kAccepted) continue;
    SCOPED_TRACE(one.name);
    const auto conversion = ConvertTfJob(one.object);
    ASSERT_THAT(conversion, IsOk());
    EXPECT_THAT(DecodeJob(JobKind::kTrainingJob, conversion->manifest), IsOk());
    ++converted;
  }
  EXPECT_GE(converted, 18);
}

}  // namespace
}  // namespace taas
