#include "localkube/api/reviews.h"

#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/api/api_fixture.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr char kTokens[] = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr char kWhoAmI[] = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
constexpr char kAccess[] = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
constexpr char kSelfAccess[] = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
constexpr char kSelfRules[] = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
constexpr char kLocalAccess[] =
    "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews";

json Jobs(const std::string& verb) {
  return {{"verb", verb},
          {"group", "taas.dev"},
          {"resource", "trainingjobs"},
          {"namespace", "default"}};
}

class ReviewsTest : public ApiFixture {
 protected:
  Reply Ask(const std::string& path, const json& spec) {
    return Call("POST", path, {{"spec", spec}});
  }
  static json TheUser() {
    return {{"username", "taas-local"}, {"groups", {"system:masters", "system:authenticated"}}};
  }
};

TEST_F(ReviewsTest, TheClustersTokenIsTheUsersAndNoOtherIs) {
  const Reply own = Ask(kTokens, {{"token", kToken}});
  EXPECT_EQ(own.code, 201);
  const json want = {{"apiVersion", "authentication.k8s.io/v1"},
                     {"kind", "TokenReview"},
                     {"metadata", json::object()},
                     {"spec", {{"token", kToken}}},
                     {"status",
                      {{"authenticated", true},
                       {"user", TheUser()},
                       {"audiences", json::array({"https://kubernetes.default.svc"})}}}};
  EXPECT_EQ(own.body, want);
  const Reply other = Ask(kTokens, {{"token", "another"}});
  EXPECT_EQ(other.code, 201);
  EXPECT_EQ(other.body["status"],
            (json{{"user", json::object()}, {"error", "invalid bearer token"}}));
}

TEST_F(ReviewsTest, ATokenCountsForItsAudience) {
  const std::string ours = "https://kubernetes.default.svc";
  for (const json& audiences : {json::array(), json{ours}, json{"other", ours}}) {
    const Reply reply = Ask(kTokens, {{"token", kToken}, {"audiences", audiences}});
    EXPECT_EQ(reply.body["status"]["audiences"], json{ours}) << audiences;
    EXPECT_EQ(reply.body["status"]["authenticated"], true);
  }
  const Reply reply = Ask(kTokens, {{"token", kToken}, {"audiences", json{"other"}}});
  EXPECT_EQ(reply.body["status"].value("error", ""), "invalid bearer token");
}

TEST_F(ReviewsTest, WithoutATokenOfTheClusterNoneIsTheUsers) {
  Api api(*store_, clock_, random_, nullptr);
  const ApiResponse reply = api.Handle(
      {.method = "POST", .target = kTokens, .body = R"({"spec":{"token":"the-token"}})"});
  EXPECT_THAT(reply.body, HasSubstr("invalid bearer token"));
}

TEST_F(ReviewsTest, WhoAsksWhoHeIsIsToldSo) {
  const Reply reply = Call("POST", kWhoAmI, {{"metadata", {{"name", "x"}}}});
  EXPECT_EQ(reply.code, 201);
  EXPECT_EQ(reply.body["metadata"], (json{{"creationTimestamp", "2026-01-01T00:00:00Z"}}));
  EXPECT_EQ(reply.body["status"], (json{{"userInfo", TheUser()}}));
  EXPECT_FALSE(reply.body.contains("spec"));
}

TEST_F(ReviewsTest, MembersOfTheMastersMayDoEverythingAndOthersNothing) {
  const json url = {{"path", "/metrics"}, {"verb", "get"}};
  for (const json& what :
       {json{{"resourceAttributes", Jobs("delete")}}, json{{"nonResourceAttributes", url}}}) {
    json spec = what;
    EXPECT_EQ(Ask(kSelfAccess, spec).body["status"], (json{{"allowed", true}}));
    spec["user"] = "someone";
    spec["groups"] = {"dev", "system:masters"};
    EXPECT_EQ(Ask(kAccess, spec).body["status"], (json{{"allowed", true}}));
    spec["groups"] = {"dev", "system:authenticated"};
    const Reply reply = Ask(kAccess, spec);
    EXPECT_EQ(reply.code, 201);
    EXPECT_EQ(reply.body["status"], (json{{"allowed", false}}));
    EXPECT_EQ(reply.body["spec"], spec);
    // Not the name but the group makes the user.
    spec.erase("groups");
    spec["user"] = "taas-local";
    EXPECT_EQ(Ask(kAccess, spec).body["status"]["allowed"], false);
  }
}

TEST_F(ReviewsTest, ALocalReviewIsOfItsNamespace) {
  json spec = {{"user", "u"}, {"groups", {"system:masters"}}, {"resourceAttributes", Jobs("get")}};
  const Reply reply = Ask(kLocalAccess, spec);
  EXPECT_EQ(reply.code, 201);
  EXPECT_EQ(reply.body["metadata"], (json{{"namespace", "default"}}));
  EXPECT_EQ(reply.body["status"]["allowed"], true);
  spec["resourceAttributes"]["namespace"] = "team";
  EXPECT_EQ(Ask(kLocalAccess, spec).message(),
            ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes.namespace: Invalid "
            "value: \"team\": must match metadata.namespace");
  EXPECT_EQ(Call("POST", kLocalAccess,
                 {{"metadata", {{"namespace", "team"}}}, {"spec", spec}}).code,
            400);
}

TEST_F(ReviewsTest, TheRulesOfTheUserAreOneForAllResourcesAndOneForAllPaths) {
  const Reply reply = Ask(kSelfRules, {{"namespace", "default"}});
  EXPECT_EQ(reply.code, 201);
  EXPECT_EQ(reply.body["status"], json::parse(R"({"incomplete": false,
      "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
      "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}]})"));
  const Reply nowhere = Ask(kSelfRules, json::object());
  EXPECT_EQ(nowhere.code, 400);
  EXPECT_EQ(nowhere.message(), "no namespace on request");
}

TEST_F(ReviewsTest, WhatMakesNoSenseIsRefusedInTheServersWords) {
  const Reply empty = Ask(kAccess, json::object());
  EXPECT_EQ(empty.code, 422);
  EXPECT_EQ(empty.message(),
            ".authorization.k8s.io \"\" is invalid: [spec.resourceAttributes: Invalid value: "
            "null: exactly one of nonResourceAttributes or resourceAttributes must be specified, "
            "spec.user: Invalid value: \"\": at least one of user or group must be specified]");
  EXPECT_EQ(empty.body["details"]["group"], "authorization.k8s.io");
  EXPECT_FALSE(empty.body["details"].contains("kind")) << empty.body;
  EXPECT_EQ(Ask(kTokens, json::object()).message(),
            "token is required for TokenReview in authentication");
  const Reply number = Ask(kTokens, {{"token", 5}});
  EXPECT_EQ(number.code, 400);
  EXPECT_EQ(number.message(),
            "TokenReview in version \"v1\" cannot be handled as a TokenReview: json: cannot "
            "unmarshal number into Go struct field TokenReviewSpec.spec.token of type string");
  for (const char* body : {"", "[]", "{", "5", R"({"kind":"Pod","apiVersion":"v1"})",
                           R"({"spec":[]})", R"({"metadata":5})"}) {
    const ApiResponse reply =
        api_.Handle({.method = "POST", .target = kAccess, .body = body});
    EXPECT_EQ(reply.code, 400) << body;
  }
}

TEST_F(ReviewsTest, AFieldThatThereIsNotIsWarnedOfOrRefusedOrPassedOver) {
  const json spec = {{"token", kToken}, {"colour", "red"}};
  const Reply warned = Ask(kTokens, spec);
  EXPECT_EQ(warned.code, 201);
  ASSERT_EQ(warned.headers.size(), 1u);
  EXPECT_EQ(warned.headers[0].second, "299 - \"unknown field \\\"spec.colour\\\"\"");
  EXPECT_EQ(warned.body["spec"], (json{{"token", kToken}}));
  const Reply strict = Ask(std::string(kTokens) + "?fieldValidation=Strict", spec);
  EXPECT_EQ(strict.code, 400);
  EXPECT_THAT(strict.message(), HasSubstr("strict decoding error: unknown field \"spec.colour\""));
  const Reply ignored = Ask(std::string(kTokens) + "?fieldValidation=Ignore", spec);
  EXPECT_EQ(ignored.code, 201);
  EXPECT_TRUE(ignored.headers.empty());
  EXPECT_EQ(Ask(kWhoAmI, json::object()).headers.size(), 1u) << "it has no spec";
}

TEST_F(ReviewsTest, TheyAreCreatedAndNothingElseAndNeverStored) {
  const uint64_t before = store_->revision();
  for (const char* path : {kTokens, kWhoAmI, kAccess, kSelfAccess, kSelfRules, kLocalAccess}) {
    const json body = {{"spec", {{"token", kToken}, {"user", "u"}, {"namespace", "default"},
                                 {"resourceAttributes", Jobs("get")}}}};
    EXPECT_EQ(Call("POST", path, body).code, 201) << path;
    EXPECT_EQ(Call("POST", std::string(path) + "?dryRun=All", body).code, 201) << path;
    for (const char* method : {"GET", "PUT", "PATCH", "DELETE"}) {
      EXPECT_EQ(Call(method, path, json::object()).code, 405) << method << " " << path;
      EXPECT_EQ(Call(method, std::string(path) + "/x", json::object()).code, 404) << path;
    }
    EXPECT_EQ(Call("POST", std::string(path) + "/x", body).code, 404);
    EXPECT_EQ(Call("GET", std::string(path) + "?watch=1").code, 405);
  }
  EXPECT_EQ(store_->revision(), before);
  const char* anywhere = "/apis/authorization.k8s.io/v1/localsubjectaccessreviews";
  EXPECT_EQ(Call("POST", anywhere, json::object()).code, 404);
  EXPECT_EQ(Call("GET", anywhere).code, 404);
  EXPECT_EQ(Call("POST", "/apis/authentication.k8s.io/v1/namespaces/default/tokenreviews",
                 json::object()).code,
            404);
}

TEST_F(ReviewsTest, DiscoveryNamesThemWithOneVerb) {
  const std::map<std::string, size_t> groups = {{"authentication.k8s.io", 2},
                                                {"authorization.k8s.io", 4}};
  for (const auto& [group, count] : groups) {
    const Reply list = Call("GET", "/apis/" + group + "/v1");
    ASSERT_EQ(list.body["resources"].size(), count) << group;
    for (const json& resource : list.body["resources"]) {
      EXPECT_EQ(resource["verbs"], json::array({"create"}));
      EXPECT_EQ(resource["namespaced"], resource["name"] == "localsubjectaccessreviews");
    }
  }
  const Reply document = Call("GET", "/openapi/v3/apis/authentication.k8s.io/v1");
  EXPECT_TRUE(document.body["paths"][kTokens].contains("post"));
  EXPECT_EQ(document.body["paths"].size(), 2u);
}

}  // namespace
}  // namespace taas::localkube
