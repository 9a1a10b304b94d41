#include "operator/api/job_rules.h"

#include <algorithm>
#include <regex>
#include <string>

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
    texts.push_back(name.at + " | " + name.field_path + " | " + name.message +
                    (name.has_expression ? " | with values" : ""));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::vector<std::string> RulesOf(const CrdSchema& schema) {
  std::vector<RuleName> names;
  for (const CrdSchema::Rule& rule : schema.Rules()) {
    names.push_back(
        {rule.at, rule.field_path, rule.message, !rule.message_expression.empty()});
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

struct ElasticCase {
  const char* name;
  const char* worker;   // Of spec.roles.
  const char* trainer;  // null: an image of one's own.
  const char* error;    // Without "Invalid value".
};

TEST(JobRulesTest, ElasticBoundsAndTheirWords) {
  constexpr char kRing[] = R"({"strategy": {"type": "AllReduce", "mode": "Async"}})";
  constexpr char kServers[] = R"({"strategy": {"type": "ParameterServer", "mode": "Async"}})";
  const ElasticCase cases[] = {
      {"lowest", R"({"replicas": 2, "elastic": {"minReplicas": 2, "maxReplicas": 4}})", kRing, ""},
      {"highest", R"({"replicas": 4, "elastic": {"minReplicas": 2, "maxReplicas": 4}})", kRing, ""},
      {"one", R"({"replicas": 3, "elastic": {"minReplicas": 3, "maxReplicas": 3}})", kRing, ""},
      {"below", R"({"replicas": 1, "elastic": {"minReplicas": 2, "maxReplicas": 4}})", kRing,
       "spec.roles.worker.replicas: Invalid value: \"object\": elastic allows 2 to 4 workers"},
      {"above", R"({"replicas": 5, "elastic": {"minReplicas": 2, "maxReplicas": 4}})", kRing,
       "spec.roles.worker.replicas: Invalid value: \"object\": elastic allows 2 to 4 workers"},
      {"upside down", R"({"replicas": 5, "elastic": {"minReplicas": 5, "maxReplicas": 4}})", kRing,
       "spec.roles.worker.replicas: Invalid value: \"object\": elastic allows 5 to 4 workers, "
       "spec.roles.worker.elastic.minReplicas: Invalid value: \"object\": is above maxReplicas"},
      {"servers", R"({"replicas": 1, "elastic": {"minReplicas": 1, "maxReplicas": 4}})", kServers,
       "spec.roles.worker.elastic: Invalid value: \"object\": is of strategy AllReduce only; "
       "workers beside parameter servers may come and go without it"},
      {"own image",
       R"({"replicas": 1, "template": {"spec": {"containers": [{"name": "a", "image": "a"}]}},
           "elastic": {"minReplicas": 1, "maxReplicas": 4}})",
       nullptr,
       "spec.roles.worker.elastic: Invalid value: \"object\": is of strategy AllReduce only; "
       "workers beside parameter servers may come and go without it"},
  };
  for (const ElasticCase& it : cases) {
    Json object = Json::parse(R"({"metadata": {"name": "a"},
                                  "spec": {"successPolicy": "Auto", "roles": {}}})");
    object["spec"]["roles"]["worker"] = Json::parse(it.worker);
    if (it.trainer != nullptr) {
      object["spec"]["trainer"] = Json::parse(it.trainer);
      object["spec"]["trainer"]["data"]["format"] = "generated";
      if (it.trainer == kServers) object["spec"]["roles"]["ps"]["replicas"] = 1;
    }
    EXPECT_EQ(FormatFieldErrors(BrokenRules(JobKind::kTrainingJob, object, nullptr)), it.error)
        << it.name;
  }
}

// The chief waits for each worker of a fixed number: one more would not train, and one less would
// be waited for.
TEST(JobRulesTest, WorkersOfAnAllReduceChangeWhereItIsElastic) {
  const Json fixed = Json::parse(R"({
    "metadata": {"name": "a"},
    "spec": {"trainer": {"strategy": {"type": "AllReduce", "mode": "Async"},
                         "data": {"format": "generated"}},
             "successPolicy": "Auto", "roles": {"worker": {"replicas": 2}}}})");
  const auto said = [](const Json& before, int replicas) {
    Json changed = before;
    changed["spec"]["roles"]["worker"]["replicas"] = replicas;
    return FormatFieldErrors(BrokenRules(JobKind::kTrainingJob, changed, &before));
  };
  EXPECT_EQ(said(fixed, 2), "");
  EXPECT_THAT(said(fixed, 3), testing::HasSubstr("spec.roles.worker.replicas: "));
  EXPECT_THAT(said(fixed, 3), testing::HasSubstr("unless roles.worker.elastic says how many"));
  Json suspended = fixed;
  suspended["spec"]["suspend"] = true;
  EXPECT_EQ(said(suspended, 3), "");
  Json elastic = fixed;
  elastic["spec"]["roles"]["worker"]["elastic"] = {{"minReplicas", 1}, {"maxReplicas", 3}};
  EXPECT_EQ(said(elastic, 3), "");
  EXPECT_THAT(said(elastic, 4), testing::HasSubstr("elastic allows 1 to 3 workers"));
  // The bounds are those that the pods were made with.
  Json wider = elastic;
  wider["spec"]["roles"]["worker"]["elastic"]["maxReplicas"] = 9;
  EXPECT_THAT(FormatFieldErrors(BrokenRules(JobKind::kTrainingJob, wider, &elastic)),
              testing::HasSubstr("only replicas and template may change"));
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

// Symptom: a field of a role that was forgotten in these rules could change while the job ran, on a
// real cluster only: the local one compares all of the role.
TEST(JobRulesTest, WhatMayNotChangeOfARoleNamesEachOfItsFields) {
  const Json crd = Json::parse(TrainingJobCrdJson());
  const Json& root = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  const Json& roles = root["properties"]["spec"]["properties"]["roles"]["properties"];
  ASSERT_EQ(roles.size(), 4u);
  for (const auto& [role, schema] : roles.items()) {
    const std::string path = "spec.roles." + role;
    std::string rule;
    for (const Json& one : root["x-kubernetes-validations"]) {
      if (one.value("fieldPath", "") == "." + path) rule = one["rule"].get<std::string>();
    }
    for (const auto& [field, ignored] : schema["properties"].items()) {
      const bool may_change = field == "replicas" || field == "template";
      for (const std::string side : {"self.", "oldSelf."}) {
        const std::string value = side + path + "." + field;
        // Not a longer name that begins with it.
        EXPECT_EQ(std::regex_search(rule, std::regex(value + "\\b")), !may_change) << value;
      }
    }
  }
}

}  // namespace
}  // namespace taas
