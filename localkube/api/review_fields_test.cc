#include "localkube/api/review_fields.h"

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/protobuf_slice.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

std::string Field(int number, std::string_view bytes) {
  std::string out;
  AppendField(number, bytes, &out);
  return out;
}

TEST(ReviewFieldsTest, EmptyAndUnknownFieldsAreLeftOutAndTheLatterNamed) {
  std::vector<std::string> unknown;
  const auto spec = ReadReviewSpec("SubjectAccessReview", json::parse(R"({
      "user": "", "uid": null, "groups": [], "extra": {"k": ["v"], "none": null}, "a": 1,
      "resourceAttributes": {"verb": "get", "b": 2,
        "labelSelector": {"requirements": [{"key": "x", "c": 3}, {}]}},
      "nonResourceAttributes": {}})"), &unknown);
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(*spec, json::parse(R"({"extra": {"k": ["v"], "none": []},
      "resourceAttributes": {"verb": "get",
        "labelSelector": {"requirements": [{"key": "x"}, {}]}},
      "nonResourceAttributes": {}})"));
  EXPECT_THAT(unknown,
              ElementsAre("spec.a", "spec.resourceAttributes.b",
                          "spec.resourceAttributes.labelSelector.requirements[0].c"));
}

struct TypeCase {
  const char* spec;
  const char* words;  // After "json: cannot unmarshal ".
};

TEST(ReviewFieldsTest, AValueOfAnotherTypeIsNamedAsGoDoes) {
  const TypeCase cases[] = {
      {R"("x")", "string into Go struct field SubjectAccessReview.spec of type "
                 "v1.SubjectAccessReviewSpec"},
      {R"({"user":true})",
       "bool into Go struct field SubjectAccessReviewSpec.spec.user of type string"},
      {R"({"groups":{}})",
       "object into Go struct field SubjectAccessReviewSpec.spec.groups of type []string"},
      {R"({"groups":[1.5]})",
       "number into Go struct field SubjectAccessReviewSpec.spec.groups of type string"},
      {R"({"extra":[]})", "array into Go struct field SubjectAccessReviewSpec.spec.extra of type "
                          "map[string]v1.ExtraValue"},
      {R"({"extra":{"k":"v"}})",
       "string into Go struct field SubjectAccessReviewSpec.spec.extra of type v1.ExtraValue"},
      {R"({"resourceAttributes":[]})", "array into Go struct field "
       "SubjectAccessReviewSpec.spec.resourceAttributes of type v1.ResourceAttributes"},
      {R"({"resourceAttributes":{"verb":5}})", "number into Go struct field "
       "ResourceAttributes.spec.resourceAttributes.verb of type string"},
      {R"({"resourceAttributes":{"fieldSelector":{"requirements":"x"}}})",
       "string into Go struct field FieldSelectorAttributes.spec.resourceAttributes.fieldSelector."
       "requirements of type []v1.FieldSelectorRequirement"},
      {R"({"resourceAttributes":{"fieldSelector":{"requirements":[{}, {"key":5}]}}})",
       "number into Go struct field FieldSelectorRequirement.spec.resourceAttributes."
       "fieldSelector.requirements.key of type string"},
  };
  for (const TypeCase& one : cases) {
    std::vector<std::string> unknown;
    EXPECT_THAT(ReadReviewSpec("SubjectAccessReview", json::parse(one.spec), &unknown),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         std::string("json: cannot unmarshal ") + one.words))
        << one.spec;
  }
}

TEST(ReviewFieldsTest, ProtobufSaysTheSame) {
  const std::string requirement = Field(1, "x") + Field(2, "In") + Field(3, "y") + Field(3, "z");
  const std::string resource = Field(1, "default") + Field(2, "create") + Field(3, "taas.dev") +
                               Field(4, "v1") + Field(5, "trainingjobs") + Field(6, "status") +
                               Field(7, "mnist") + Field(8, Field(1, "a=b")) +
                               Field(9, Field(2, requirement));
  const std::string extra = Field(1, "k") + Field(2, Field(1, "v") + Field(1, "w"));
  const auto spec = ReviewSpecOfProtobuf(
      "SubjectAccessReview", Field(1, resource) + Field(2, Field(1, "/x") + Field(2, "get")) +
                                 Field(3, "u") + Field(4, "g") + Field(4, "h") + Field(5, extra) +
                                 Field(6, "7"));
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(*spec, json::parse(R"({
      "resourceAttributes": {"namespace": "default", "verb": "create", "group": "taas.dev",
        "version": "v1", "resource": "trainingjobs", "subresource": "status", "name": "mnist",
        "fieldSelector": {"rawSelector": "a=b"},
        "labelSelector": {"requirements": [
          {"key": "x", "operator": "In", "values": ["y", "z"]}]}},
      "nonResourceAttributes": {"path": "/x", "verb": "get"},
      "user": "u", "groups": ["g", "h"], "extra": {"k": ["v", "w"]}, "uid": "7"})"));
  EXPECT_EQ(*ReviewSpecOfProtobuf("TokenReview", Field(1, "t") + Field(2, "a")),
            (json{{"token", "t"}, {"audiences", json::array({"a"})}}));
  EXPECT_EQ(*ReviewSpecOfProtobuf("SelfSubjectRulesReview", Field(1, "n")),
            (json{{"namespace", "n"}}));
}

TEST(ReviewFieldsTest, BytesThatAreNoMessageAreRefusedOrReadWithoutHarm) {
  const std::string whole = Field(1, Field(1, "default") + Field(9, Field(2, Field(1, "x")))) +
                            Field(5, Field(1, "k") + Field(2, Field(1, "v")));
  for (size_t size = 1; size < whole.size(); ++size) {
    for (const char* kind : {"SubjectAccessReview", "SelfSubjectAccessReview", "TokenReview"}) {
      const auto spec = ReviewSpecOfProtobuf(kind, std::string_view(whole).substr(0, size));
      EXPECT_TRUE(spec.ok() || absl::IsInvalidArgument(spec.status())) << spec.status();
    }
  }
  EXPECT_FALSE(ReviewSpecOfProtobuf("TokenReview", "\x0a\x7f").ok());
}

TEST(ReviewFieldsTest, SomeKindsHaveNone) {
  EXPECT_TRUE(HasReviewSpec("LocalSubjectAccessReview"));
  EXPECT_FALSE(HasReviewSpec("SelfSubjectReview"));
  EXPECT_FALSE(HasReviewSpec("Pod"));
}

}  // namespace
}  // namespace taas::localkube
