#include "localkube/api/rules/review_rules.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Check(const char* resource, const std::string& spec,
                               const json& metadata = json::object()) {
  const Kind& kind = *FindKind("authorization.k8s.io", "v1", resource);
  std::vector<std::string> out;
  for (const FieldError& error :
       CheckAccessReview(kind, metadata, json::parse(spec), "default")) {
    out.push_back(FormatFieldError(error));
  }
  return out;
}

constexpr char kAny[] = "subjectaccessreviews";
constexpr char kSelf[] = "selfsubjectaccessreviews";
constexpr char kLocal[] = "localsubjectaccessreviews";

TEST(ReviewRulesTest, OneOfTwoThingsIsAskedOfAUserOrAGroup) {
  EXPECT_THAT(Check(kAny, R"({"user":"u","resourceAttributes":{}})"), IsEmpty());
  EXPECT_THAT(Check(kAny, R"({"groups":["g"],"nonResourceAttributes":{}})"), IsEmpty());
  EXPECT_THAT(Check(kSelf, R"({"resourceAttributes":{}})"), IsEmpty());
  EXPECT_THAT(Check(kSelf, "{}"),
              ElementsAre("spec.resourceAttributes: Invalid value: null: exactly one of "
                          "nonResourceAttributes or resourceAttributes must be specified"));
  EXPECT_THAT(Check(kAny, R"({"resourceAttributes":{},"nonResourceAttributes":{"path":"/x"}})"),
              ElementsAre("spec.nonResourceAttributes: Invalid value: {\"Path\":\"/x\",\"Verb\":"
                          "\"\"}: cannot be specified in combination with resourceAttributes",
                          "spec.user: Invalid value: \"\": at least one of user or group must be "
                          "specified"));
}

TEST(ReviewRulesTest, AReviewHasNoNameAndNoLabels) {
  const json named = {{"name", "x"}};
  EXPECT_THAT(Check(kSelf, R"({"resourceAttributes":{}})", named),
              ElementsAre("metadata: Invalid value: {\"name\":\"x\"}: must be empty"));
  EXPECT_THAT(Check(kLocal, R"({"user":"u","resourceAttributes":{"namespace":"default"}})", named),
              ElementsAre("metadata: Invalid value: {\"name\":\"x\",\"namespace\":\"default\"}: "
                          "must be empty except for namespace"));
}

TEST(ReviewRulesTest, ALocalReviewIsOfResourcesOfItsNamespace) {
  EXPECT_THAT(Check(kLocal, R"({"user":"u","resourceAttributes":{}})"),
              ElementsAre("spec.resourceAttributes.namespace: Invalid value: \"\": must match "
                          "metadata.namespace"));
  EXPECT_THAT(Check(kLocal, R"({"user":"u","nonResourceAttributes":{"path":"/","verb":"get"}})"),
              ElementsAre("spec.nonResourceAttributes: Invalid value: {\"Path\":\"/\",\"Verb\":"
                          "\"get\"}: disallowed on this kind of request"));
}

TEST(ReviewRulesTest, ASelectorIsTextOrRequirementsThatAreWhole) {
  const auto selector = [](const std::string& name, const std::string& value) {
    return Check(kSelf, R"({"resourceAttributes":{")" + name + "\":" + value + "}}");
  };
  EXPECT_THAT(selector("labelSelector", R"({"rawSelector":"a=b"})"), IsEmpty());
  EXPECT_THAT(selector("fieldSelector", "{}"),
              ElementsAre("spec.resourceAttributes.fieldSelector.requirements: Required value: "
                          "when spec.resourceAttributes.fieldSelector is specified, requirements "
                          "or rawSelector is required"));
  EXPECT_THAT(selector("labelSelector", R"({"rawSelector":"a","requirements":[{"key":"a"}]})"),
              ElementsAre("spec.resourceAttributes.labelSelector.rawSelector: Invalid value: "
                          "\"a\": may not specified at the same time as requirements"));
  EXPECT_THAT(selector("fieldSelector", R"({"requirements":[{"key":"a","operator":"New"},
                                            {"operator":"In"},
                                            {"key":"b","operator":"Exists","values":["x"]}]})"),
              ElementsAre("spec.resourceAttributes.fieldSelector.requirements[1].key: Required "
                          "value: must be specified",
                          "spec.resourceAttributes.fieldSelector.requirements[1].values: Required "
                          "value: must be specified when `operator` is 'In' or 'NotIn'",
                          "spec.resourceAttributes.fieldSelector.requirements[2].values: "
                          "Forbidden: may not be specified when `operator` is 'Exists' or "
                          "'DoesNotExist'"));
}

}  // namespace
}  // namespace taas::localkube
