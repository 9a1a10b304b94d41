#include "localkube/api/rules/resource_rules.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/api/api_fixture.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr char kForm[] =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr char kClaims[] = "/api/v1/namespaces/default/persistentvolumeclaims";

struct Case {
  const char* name;
  const char* resources;
  int code;
  const char* words = "";
};

class ResourcesTest : public ApiFixture, public testing::WithParamInterface<Case> {};

// `limits.memory: 4GB` and `requests.cpu: abc` were taken, as no limit and nothing asked.
TEST_P(ResourcesTest, OfAContainerAreReadAsAKubeApiserverReadsThem) {
  for (const char* list : {"containers", "initContainers"}) {
    json pod = Pod("a");
    if (list == std::string("initContainers")) {
      pod["spec"][list] = {{{"name", "init"}, {"image", "i"}}};
    }
    pod["spec"][list][0]["resources"] = json::parse(GetParam().resources);
    const Reply reply = Call("POST", kPods, pod);
    EXPECT_EQ(reply.code, GetParam().code) << reply.body;
    EXPECT_THAT(reply.message(), HasSubstr(GetParam().words));
    Call("DELETE", std::string(kPods) + "/a");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, ResourcesTest,
    testing::Values(
        Case{"Good", R"({"limits":{"memory":"4Gi","cpu":"1.5","ephemeral-storage":"1e9"},
                         "requests":{"memory":"4G","cpu":"1500m"}})", 201},
        Case{"Numbers", R"({"limits":{"memory":4000000000,"cpu":0.5}})", 201},
        Case{"Spaces", R"({"limits":{"memory":" 4Gi "}})", 201},
        Case{"Exa", R"({"requests":{"memory":"1Ei","cpu":"1P"}})", 201},
        Case{"HugePages", R"({"limits":{"hugepages-2Mi":"4Mi","cpu":1},
                              "requests":{"hugepages-2Mi":"4Mi"}})", 201},
        Case{"UnitOfBytes", R"({"limits":{"memory":"4GB"}})", 400, kForm},
        Case{"Word", R"({"requests":{"cpu":"abc"}})", 400, kForm},
        Case{"Empty", R"({"requests":{"cpu":""}})", 400, kForm},
        Case{"Flag", R"({"requests":{"cpu":true}})", 400, "cannot be handled as a Pod"},
        Case{"List", R"({"requests":{"cpu":[1]}})", 400, "cannot be handled as a Pod"},
        Case{"Suffix", R"({"requests":{"memory":"4K"}})", 400,
             "unable to parse quantity's suffix"},
        Case{"Negative", R"({"limits":{"memory":"-1"}})", 422,
             "resources.limits[memory]: Invalid value: \"-1\": must be greater than or equal to 0"},
        Case{"MoreThanTheLimit", R"({"limits":{"cpu":1},"requests":{"cpu":"1001m"}})", 422,
             "resources.requests: Invalid value: \"1001m\": must be less than or equal to cpu "
             "limit of 1"},
        Case{"PartOfADevice", R"({"limits":{"nvidia.com/gpu":"500m"}})", 422,
             "must be an integer"},
        Case{"DeviceWithoutALimit", R"({"requests":{"nvidia.com/gpu":1}})", 422,
             "resources.limits: Required value: Limit must be set for non overcommitable "
             "resources"},
        Case{"FewerDevicesThanTheLimit",
             R"({"limits":{"nvidia.com/gpu":2},"requests":{"nvidia.com/gpu":1}})", 422,
             "must be equal to nvidia.com/gpu limit of 2"},
        Case{"UnknownName", R"({"limits":{"gpu":1}})", 422,
             "must be a standard resource type or fully qualified"},
        Case{"NameOfAQuota", R"({"limits":{"pods":1}})", 422,
             "must be a standard resource for containers"},
        Case{"BadName", R"({"limits":{"a b/c":1}})", 422, "prefix part a lowercase RFC 1123"}),
    [](const auto& info) { return std::string(info.param.name); });

class QuantitiesTest : public ApiFixture {};

TEST_F(QuantitiesTest, OfVolumesEnvironmentsAndClaimsAreRead) {
  json pod = Pod("a");
  pod["spec"]["volumes"] = {{{"name", "v"}, {"emptyDir", {{"sizeLimit", "1 GB"}}}}};
  EXPECT_THAT(Call("POST", kPods, pod).message(), HasSubstr(kForm));
  pod = Pod("a");
  pod["spec"]["containers"][0]["env"] = {
      {{"name", "E"},
       {"valueFrom", {{"resourceFieldRef", {{"resource", "limits.cpu"}, {"divisor", "x"}}}}}}};
  EXPECT_THAT(Call("POST", kPods, pod).message(), HasSubstr(kForm));
  const auto claim = [](const std::string& size) {
    return json{{"metadata", {{"name", "c"}}},
                {"spec", {{"resources", {{"requests", {{"storage", size}}}}}}}};
  };
  const Reply refused = Call("POST", kClaims, claim("10GB"));
  EXPECT_EQ(refused.code, 400);
  EXPECT_THAT(refused.message(), HasSubstr("cannot be handled as a PersistentVolumeClaim: "
                                           "quantities must match"));
  EXPECT_EQ(Call("POST", kClaims, claim("10Gi")).code, 201);
  EXPECT_EQ(Call("PATCH", std::string(kClaims) + "/c",
                 {{"spec", {{"resources", {{"requests", {{"storage", "much"}}}}}}}})
                .code,
            400);
}

TEST_F(QuantitiesTest, OfANodeAreRead) {
  Call("POST", "/api/v1/nodes", {{"metadata", {{"name", "n"}}}});
  const auto allocatable = [&](const json& amount) {
    return Call("PATCH", "/api/v1/nodes/n/status",
                {{"status", {{"allocatable", {{"memory", amount}}}}}});
  };
  EXPECT_EQ(allocatable("4GB").code, 400);
  EXPECT_EQ(allocatable("4Gi").code, 200);
}

}  // namespace
}  // namespace taas::localkube
