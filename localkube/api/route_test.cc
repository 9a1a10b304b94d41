#include "localkube/api/route.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas::localkube {
namespace {

struct Case {
  const char* name;
  const char* target;
  const char* resource;  // Empty: no kind of ours.
  const char* ns;
  const char* object;
  const char* subresource;
};

class RouteTest : public testing::TestWithParam<Case> {};

TEST_P(RouteTest, NamesTheObject) {
  const auto route = ParseRoute(GetParam().target);
  ASSERT_THAT(route, IsOk());
  EXPECT_EQ(route->kind == nullptr ? "" : route->kind->resource(), GetParam().resource);
  EXPECT_EQ(route->ns, GetParam().ns);
  EXPECT_EQ(route->name, GetParam().object);
  EXPECT_EQ(route->subresource, GetParam().subresource);
}

INSTANTIATE_TEST_SUITE_P(
    Table, RouteTest,
    testing::Values(
        Case{"AllPods", "/api/v1/pods", "pods", "", "", ""},
        Case{"Pods", "/api/v1/namespaces/a/pods?watch=1", "pods", "a", "", ""},
        Case{"PodLog", "/api/v1/namespaces/a/pods/p/log", "pods", "a", "p", "log"},
        Case{"Namespace", "/api/v1/namespaces/a", "namespaces", "", "a", ""},
        Case{"NamespaceStatus", "/api/v1/namespaces/a/status", "namespaces", "", "a", "status"},
        Case{"Job", "/apis/taas.dev/v1/namespaces/a/trainingjobs/j/scale", "trainingjobs.taas.dev",
             "a", "j", "scale"},
        Case{"Node", "/api/v1/nodes/n", "nodes", "", "n", ""},
        Case{"PodWithoutNamespace", "/api/v1/pods/p", "", "", "p", ""},
        Case{"NodeInNamespace", "/api/v1/namespaces/a/nodes", "", "a", "", ""},
        Case{"UnknownKind", "/api/v1/namespaces/a/gadgets", "", "a", "", ""},
        Case{"UnknownGroup", "/apis/other/v1/trainingjobs", "", "", "", ""},
        Case{"Group", "/apis/taas.dev/v1", "", "", "", ""}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(RouteQueryTest, QueriesAreDecoded) {
  const auto route = ParseRoute("/api/v1/pods?labelSelector=a%3Db%2Cc&watch=true&x=a+b");
  ASSERT_THAT(route, IsOk());
  EXPECT_EQ(route->Get("labelSelector"), "a=b,c");
  EXPECT_TRUE(route->Is("watch"));
  EXPECT_EQ(route->Get("x"), "a b");
}

// The Python client's watches were answered with lists: it asks for watch=True.
TEST(RouteQueryTest, BooleansAreReadAsGoReadsThem) {
  for (const char* yes : {"true", "True", "TRUE", "t", "T", "1"}) {
    const auto route = ParseRoute(std::string("/api/v1/pods?watch=") + yes);
    ASSERT_TRUE(route.ok());
    EXPECT_TRUE(route->Is("watch")) << yes;
  }
  for (const char* no : {"", "0", "false", "False", "yes"}) {
    const auto route = ParseRoute(std::string("/api/v1/pods?watch=") + no);
    ASSERT_TRUE(route.ok());
    EXPECT_FALSE(route->Is("watch")) << no;
  }
}

TEST(RouteQueryTest, BadEncodingIsRefused) {
  for (const char* target : {"/api/v1/pods?x=%", "/api/v1/pods?x=%zz", "/api/v1/%4"}) {
    EXPECT_THAT(ParseRoute(target), StatusIs(absl::StatusCode::kInvalidArgument)) << target;
  }
}

}  // namespace
}  // namespace taas::localkube
