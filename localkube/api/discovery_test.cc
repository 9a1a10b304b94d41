#include "localkube/api/discovery.h"

#include "gtest/gtest.h"
#include "localkube/api/kinds.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

json Get(const std::string& path, const std::string& accept = "application/json") {
  const auto found = Discover(path, accept);
  EXPECT_TRUE(found.has_value()) << path;
  return found.has_value() ? json::parse(found->body) : json();
}

TEST(DiscoveryTest, EveryKindStandsInTheListOfItsGroup) {
  for (const Kind& kind : Kinds()) {
    const json list = Get((kind.group.empty() ? "/api/" : "/apis/") + kind.api_version());
    EXPECT_EQ(list["kind"], "APIResourceList");
    bool found = false;
    for (const json& resource : list["resources"]) {
      if (resource["name"] != kind.plural) continue;
      found = true;
      EXPECT_EQ(resource["kind"], kind.kind);
      EXPECT_EQ(resource["namespaced"], kind.namespaced);
    }
    EXPECT_TRUE(found) << kind.plural;
  }
}

TEST(DiscoveryTest, ScaleIsAnnouncedAsAutoscaling) {
  const json list = Get("/apis/taas.dev/v1");
  for (const json& resource : list["resources"]) {
    if (resource["name"] != "trainingjobs/scale") continue;
    EXPECT_EQ(resource["group"], "autoscaling");
    EXPECT_EQ(resource["kind"], "Scale");
    return;
  }
  FAIL() << "no trainingjobs/scale";
}

TEST(DiscoveryTest, WhoAsksForItGetsAllGroupsInOneAnswer) {
  const char* accept =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
  const json answer = Get("/apis", accept);
  EXPECT_EQ(answer["kind"], "APIGroupDiscoveryList");
  bool found = false;
  for (const json& group : answer["items"]) {
    if (group["metadata"]["name"] != "taas.dev") continue;
    found = true;
    EXPECT_EQ(group["versions"][0]["resources"][0]["resource"], "trainingjobs");
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(Get("/apis")["kind"], "APIGroupList");
}

TEST(DiscoveryTest, OpenApiSaysThatTheServerValidatesFields) {
  const json index = Get("/openapi/v3");
  const std::string path = index["paths"]["apis/taas.dev/v1"]["serverRelativeURL"];
  const json document = Get(path);
  const json& patch =
      document["paths"]["/apis/taas.dev/v1/namespaces/{namespace}/trainingjobs/{name}"]["patch"];
  bool found = false;
  for (const json& parameter : patch["parameters"]) {
    found = found || parameter["name"] == "fieldValidation";
  }
  EXPECT_TRUE(found);
}

TEST(DiscoveryTest, OtherPathsAreNotKnown) {
  EXPECT_FALSE(Discover("/apis/other/v1", "").has_value());
  EXPECT_FALSE(Discover("/api/v2", "").has_value());
}

}  // namespace
}  // namespace taas::localkube
