#include "operator/api/job_rules.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/api/trainingjob_crd.h"

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

TEST(JobRulesTest, EachRuleOfTheCrdHasATwinAndNoTwinIsWithoutOne) {
  std::vector<RuleName> in_crd;
  for (const CrdSchema::Rule& rule : TrainingJobSchema().Rules()) {
    in_crd.push_back({rule.at, rule.field_path, rule.message});
  }
  EXPECT_GE(in_crd.size(), 15u);
  EXPECT_EQ(Texts(in_crd), Texts(KnownRules()));
}

TEST(JobRulesTest, RulesAboutChangesHoldForANewObject) {
  const Json object = Json::parse(R"({
    "metadata": {"name": "a"},
    "spec": {"trainer": {"strategy": {"type": "ParameterServer"}, "data": {"format": "generated"}},
             "roles": {"ps": {"replicas": 1}, "worker": {"replicas": 1}}}})");
  EXPECT_THAT(BrokenRules(object, nullptr), testing::IsEmpty());
  EXPECT_THAT(BrokenRules(object, &object), testing::IsEmpty());
  Json changed = object;
  changed["spec"]["backoffLimit"] = 3;
  EXPECT_EQ(FormatFieldErrors(BrokenRules(changed, &object)),
            "spec.backoffLimit: Invalid value: may not change while the job exists");
}

TEST(JobRulesTest, EachVolumeIsNamedByItsIndex) {
  const Json object = Json::parse(R"({"spec": {"volumes": [
      {"mountPath": "/a"}, {"mountPath": "/b/../c"}, {"mountPath": "/d/.."}]}})");
  std::vector<std::string> paths;
  for (const FieldError& error : BrokenRules(object, nullptr)) paths.push_back(error.path);
  EXPECT_THAT(paths, testing::IsSupersetOf(
                         {"spec.volumes[1].mountPath", "spec.volumes[2].mountPath"}));
  EXPECT_THAT(paths, testing::Not(testing::Contains("spec.volumes[0].mountPath")));
}

}  // namespace
}  // namespace taas
