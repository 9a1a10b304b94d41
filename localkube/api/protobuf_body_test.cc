#include "localkube/api/protobuf_body.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

std::string Field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) +
         std::string(1, static_cast<char>(bytes.size())) + bytes;
}

// As `kubectl create namespace team` sends it, with a label.
std::string Body() {
  const std::string metadata =
      Field(1, "team") + Field(3, "") + Field(11, Field(1, "a") + Field(2, "b"));
  const std::string object = Field(1, metadata) + Field(2, "") + Field(3, "");
  const std::string type = Field(1, "v1") + Field(2, "Namespace");
  return std::string("k8s\0", 4) + Field(1, type) + Field(2, object) + Field(3, "") + Field(4, "");
}

TEST(ProtobufBodyTest, MetadataIsRead) {
  const auto text = JsonOfProtobuf("v1", "Namespace", Body());
  ASSERT_THAT(text, IsOk());
  EXPECT_EQ(json::parse(*text)["metadata"],
            json::parse(R"({"name":"team","labels":{"a":"b"}})"));
}

TEST(ProtobufBodyTest, ATruncatedBodyIsRefusedWhereverItEnds) {
  const std::string body = Body();
  // Two fields without content stand at the end; before them every cut breaks the object.
  for (size_t size = 0; size + 5 < body.size(); ++size) {
    const auto text = JsonOfProtobuf("v1", "Namespace", body.substr(0, size));
    if (text.ok()) {
      EXPECT_NE(json::parse(*text)["metadata"].value("name", ""), "team") << size;
    }
  }
}

// The object alone, in its envelope.
std::string Wrap(const std::string& object) {
  return std::string("k8s\0", 4) + Field(2, object);
}

TEST(ProtobufBodyTest, TheDataOfConfigMapsAndSecretsIsRead) {
  const std::string metadata = Field(1, Field(1, "a"));
  const auto entry = Field(1, "key") + Field(2, std::string("\0\1", 2));
  auto text = JsonOfProtobuf("v1", "Secret",
                             Wrap(metadata + Field(2, entry) + Field(3, "own/type")));
  ASSERT_THAT(text, IsOk());
  EXPECT_EQ(json::parse(*text)["data"]["key"], "AAE=");
  EXPECT_EQ(json::parse(*text)["type"], "own/type");
  text = JsonOfProtobuf("v1", "ConfigMap",
                        Wrap(metadata + Field(2, Field(1, "k") + Field(2, "v"))));
  ASSERT_THAT(text, IsOk());
  EXPECT_EQ(json::parse(*text)["data"]["k"], "v");
}

TEST(ProtobufBodyTest, AnEvictionHasItsGraceAndItsPrecondition) {
  const std::string options = std::string("\x08\x05", 2) + Field(2, Field(1, "u"));
  const auto text = JsonOfProtobuf("policy/v1", "Eviction",
                                   Wrap(Field(1, Field(1, "p")) + Field(2, options)));
  ASSERT_THAT(text, IsOk());
  EXPECT_EQ(json::parse(*text)["deleteOptions"],
            json::parse(R"({"gracePeriodSeconds":5,"preconditions":{"uid":"u"}})"));
}

TEST(ProtobufBodyTest, AReviewHasWhatItAsks) {
  const std::string resource = Field(1, "") + Field(2, "create") + Field(5, "pods");
  auto text = JsonOfProtobuf("authorization.k8s.io/v1", "SelfSubjectAccessReview",
                             Wrap(Field(1, "") + Field(2, Field(1, resource)) + Field(3, "x")));
  ASSERT_THAT(text, IsOk());
  EXPECT_EQ(json::parse(*text)["spec"]["resourceAttributes"],
            json::parse(R"({"namespace":"","verb":"create","resource":"pods"})"));
  // It asks nothing; what a client sends of its status is not looked at.
  text = JsonOfProtobuf("authentication.k8s.io/v1", "SelfSubjectReview", Wrap(Field(2, "x")));
  ASSERT_THAT(text, IsOk());
  EXPECT_FALSE(json::parse(*text).contains("spec"));
}

TEST(ProtobufBodyTest, OtherKindsAreToldToSendJson) {
  EXPECT_THAT(JsonOfProtobuf("v1", "Pod", Body()),
              StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("send JSON")));
}

}  // namespace
}  // namespace taas::localkube
