#include "operator/api/job_rules.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/tfjob_crd.h"
#include "operator/api/trainingjob_crd.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

std::vector<std::string> Texts(std::vector<RuleName> names) {
  std::vector<std::string> texts;
  for (const RuleName& name : names) {
    texts.push_back(name.at + " | " + name.field_path + " | " + name.message);
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::vector<std::string> RulesOf(const CrdSchema& schema) {
  std::vector<RuleName> names;
  for (const CrdSchema::Rule& rule : schema.Rules()) {
    names.push_back({rule.at, rule.field_path, rule.message});
  }
  return Texts(names);
}

TEST(JobRulesTest, EachRuleOfACrdHasATwinAndNoTwinIsWithoutOne) {
  EXPECT_GE(RulesOf(TrainingJobSchema()).size(), 50u);
  EXPECT_EQ(RulesOf(TrainingJobSchema()), Texts(KnownRules(JobKind::kTrainingJob)));
  EXPECT_GE(RulesOf(TfJobSchema()).size(), 12u);
  EXPECT_EQ(RulesOf(TfJobSchema()), Texts(KnownRules(JobKind::kTfJob)));
}

TEST(JobRulesTest, RulesAboutChangesHoldForANewObject) {
  const Json object = Json::parse(R"({
    "metadata": {"name": "a"},
    "spec": {"trainer": {"strategy": {"type": "ParameterServer", "mode": "Async"},
                         "data": {"format": "generated"}},
             "successPolicy": "Auto",
             "roles": {"ps": {"replicas": 1}, "worker": {"replicas": 1}}}})");
  EXPECT_THAT(BrokenRules(JobKind::kTrainingJob, object, nullptr), testing::IsEmpty());
  EXPECT_THAT(BrokenRules(JobKind::kTrainingJob, object, &object), testing::IsEmpty());
  Json changed = object;
  changed["spec"]["backoffLimit"] = 3;
  EXPECT_EQ(FormatFieldErrors(BrokenRules(JobKind::kTrainingJob, changed, &object)),
            "spec.backoffLimit: Invalid value: \"object\": may change only while the job is "
            "suspended");
  Json suspended = object;
  suspended["spec"]["suspend"] = true;
  EXPECT_THAT(BrokenRules(JobKind::kTrainingJob, changed, &suspended), testing::IsEmpty());
}

// Symptom: who edited a job that had ended and applied it was told that it may change only while it
// is suspended; and suspended it could be, to end again at once with nothing run.
TEST(JobRulesTest, AJobThatHasEndedStaysAsItIsAndIsSaidToHaveEnded) {
  const Json object = Json::parse(R"({
    "metadata": {"name": "a"},
    "spec": {"trainer": {"strategy": {"type": "ParameterServer", "mode": "Async"},
                         "data": {"format": "generated"}, "maxSteps": 100},
             "successPolicy": "Auto", "suspend": false,
             "roles": {"ps": {"replicas": 1}, "worker": {"replicas": 1}}},
    "status": {"state": "Succeeded", "completionTime": "2026-11-21T05:54:17Z"}})");
  const std::string ended =
      "spec: Invalid value: \"object\": the job has ended: delete it first, or apply this under "
      "another name";
  const auto said = [&](const char* path, const Json& value) {
    Json changed = object;
    changed[Json::json_pointer(path)] = value;
    return FormatFieldErrors(BrokenRules(JobKind::kTrainingJob, changed, &object));
  };
  EXPECT_EQ(said("/spec/trainer/maxSteps", 400), ended);
  EXPECT_EQ(said("/spec/suspend", true), ended);
  EXPECT_EQ(said("/spec/roles/worker/replicas", 4), ended);
  EXPECT_EQ(said("/spec/roles/worker/template", Json::object()), ended);
  EXPECT_EQ(said("/spec/activeDeadlineSeconds", 9), ended);
  EXPECT_EQ(said("/spec/ttlSecondsAfterFinished", 9), "");
  EXPECT_EQ(said("/spec/cleanPodPolicy", "All"), "");
  // One that was suspended when it ended may be resumed: it stays as it is.
  Json suspended = object;
  suspended["spec"]["suspend"] = true;
  EXPECT_THAT(BrokenRules(JobKind::kTrainingJob, object, &suspended), testing::IsEmpty());
}

TEST(JobRulesTest, ATfJobThatHasEndedStaysAsItIsToo) {
  const Json object = Json::parse(R"({
    "metadata": {"name": "a"},
    "spec": {"runPolicy": {"suspend": false}, "tfReplicaSpecs": {"Worker": {
      "replicas": 1, "template": {"spec": {"containers": [{"name": "tensorflow"}]}}}}},
    "status": {"completionTime": "2026-11-21T05:54:17Z"}})");
  const auto said = [&](const char* path, const Json& value) {
    Json changed = object;
    changed[Json::json_pointer(path)] = value;
    return FormatFieldErrors(BrokenRules(JobKind::kTfJob, changed, &object));
  };
  EXPECT_THAT(said("/spec/runPolicy/suspend", true), testing::HasSubstr("the job has ended"));
  EXPECT_THAT(said("/spec/tfReplicaSpecs/Worker/replicas", 2),
              testing::HasSubstr("the job has ended"));
  EXPECT_EQ(said("/spec/runPolicy/ttlSecondsAfterFinished", 2), "");
}

TEST(JobRulesTest, EachRoleOfATfJobIsNamedByItsKey) {
  const Json object = Json::parse(R"({
    "metadata": {"name": "a"},
    "spec": {"tfReplicaSpecs": {
      "Ps": {"replicas": 1, "template": {"spec": {"containers": [{"name": "tensorflow"}]}}},
      "worker": {"replicas": 1, "template": {"spec": {"containers": [{"name": "main"}]}}}}}})");
  EXPECT_EQ(FormatFieldErrors(BrokenRules(JobKind::kTfJob, object, nullptr)),
            "spec.tfReplicaSpecs[worker].template.spec.containers: Invalid value: \"object\": must "
            "have a container named tensorflow, which gets TF_CONFIG");
}

TEST(JobRulesTest, EachVolumeIsNamedByItsIndex) {
  const Json object = Json::parse(R"({"spec": {"volumes": [
      {"mountPath": "/a"}, {"mountPath": "/b/../c"}, {"mountPath": "/d/.."}]}})");
  std::vector<std::string> paths;
  for (const FieldError& error : BrokenRules(JobKind::kTrainingJob, object, nullptr)) {
    paths.push_back(error.path);
  }
  EXPECT_THAT(paths, testing::IsSupersetOf(
                         {"spec.volumes[1].mountPath", "spec.volumes[2].mountPath"}));
  EXPECT_THAT(paths, testing::Not(testing::Contains("spec.volumes[0].mountPath")));
}

}  // namespace
}  // namespace taas
