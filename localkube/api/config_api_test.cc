// ConfigMaps and Secrets through the API.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/api/api_fixture.h"
#include "localkube/api/base64.h"
#include "localkube/api/config_rules.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using ::testing::HasSubstr;
using nlohmann::json;

constexpr char kConfigMaps[] = "/api/v1/namespaces/default/configmaps";
constexpr char kSecrets[] = "/api/v1/namespaces/default/secrets";

json Config(const json& more) {
  json object = {{"metadata", {{"name", "a"}}}};
  object.update(more);
  return object;
}

class ConfigApiTest : public ApiFixture {};

TEST_F(ConfigApiTest, TheTextOfASecretIsStoredAsBytesAndItsTypeHasADefault) {
  const Reply made = Call("POST", kSecrets, Config({{"data", {{"old", "b2xk"}}},
                                                    {"stringData", {{"user", "me"}}}}));
  ASSERT_EQ(made.code, 201) << made.body;
  EXPECT_EQ(made.body["data"], json::parse(R"({"old":"b2xk","user":"bWU="})"));
  EXPECT_EQ(made.body["type"], "Opaque");
  EXPECT_FALSE(made.body.contains("stringData"));
}

TEST_F(ConfigApiTest, BadDataIsRefusedWithItsPlace) {
  Reply reply = Call("POST", kSecrets, Config({{"data", {{"k", "no base64"}}}}));
  EXPECT_EQ(reply.code, 400);
  EXPECT_THAT(reply.message(), HasSubstr("illegal base64 data in data.k"));
  reply = Call("POST", kConfigMaps, Config({{"data", {{"k", 1}}}}));
  EXPECT_EQ(reply.code, 400);
  EXPECT_THAT(reply.message(), HasSubstr("ConfigMap.data of type string"));
  reply = Call("POST", kConfigMaps, Config({{"data", {{"a/b", "x"}}}}));
  EXPECT_EQ(reply.code, 422);
  EXPECT_THAT(reply.message(), HasSubstr("data[a/b]: Invalid value"));
  reply = Call("POST", kConfigMaps,
               Config({{"data", {{"k", std::string(kConfigBytesMax + 1, 'x')}}}}));
  EXPECT_EQ(reply.code, 422);
  EXPECT_THAT(reply.message(), HasSubstr("Too long"));
}

// Of a value in base64 its bytes count, not what they are written with.
TEST_F(ConfigApiTest, AsManyBytesAsAConfigMapTakesAreTaken) {
  const json full = {{"binaryData", {{"k", EncodeBase64(std::string(kConfigBytesMax, 'x'))}}}};
  EXPECT_EQ(Call("POST", kConfigMaps, Config(full)).code, 201);
  const json more = {{"binaryData", {{"k", EncodeBase64(std::string(kConfigBytesMax + 1, 'x'))}}}};
  EXPECT_EQ(Call("POST", kConfigMaps, Config(more)).code, 422);
}

TEST_F(ConfigApiTest, AnImmutableConfigMapStaysAsItIs) {
  ASSERT_EQ(Call("POST", kConfigMaps, Config({{"immutable", true}, {"data", {{"k", "v"}}}})).code,
            201);
  const std::string path = std::string(kConfigMaps) + "/a";
  const Reply reply = Call("PATCH", path, {{"data", {{"k", "w"}}}});
  EXPECT_EQ(reply.code, 422);
  EXPECT_THAT(reply.message(), HasSubstr("field is immutable when `immutable` is set"));
  EXPECT_EQ(Call("PATCH", path, {{"metadata", {{"labels", {{"a", "b"}}}}}}).code, 200);
}

TEST_F(ConfigApiTest, ATableShowsHowMuchIsInThem) {
  Call("POST", kConfigMaps, Config({{"data", {{"k", "v"}}}, {"binaryData", {{"b", "AA=="}}}}));
  const Reply table =
      Call("GET", kConfigMaps, nullptr, "", "application/json;as=Table;v=v1;g=meta.k8s.io");
  EXPECT_EQ(table.body["rows"][0]["cells"][1], 2);
}

}  // namespace
}  // namespace taas::localkube
