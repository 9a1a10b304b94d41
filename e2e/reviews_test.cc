// Reviews of tokens and of access: the local cluster answers what a real API server answers.

#include <string>
#include <string_view>
#include <vector>

#include "e2e/both_servers_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/api/api_server.h"
#include "operator/api/kube_protobuf.h"
#include "operator/base/protobuf_slice.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

constexpr char kTokens[] = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr char kWhoAmI[] = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
constexpr char kAccess[] = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
constexpr char kSelfAccess[] = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
constexpr char kSelfRules[] = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
constexpr char kLocalAccess[] =
    "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews";

struct Answer {
  int code = 0;
  Json body;
};

// Without what is a server's own: who manages which field, the time, the name of its user. (A real
// one writes empty details where ours writes none.)
Json Comparable(const std::string& text) {
  Json body = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!body.is_object()) return text;
  if (body.contains("metadata")) {
    body["metadata"].erase("managedFields");
    body["metadata"].erase("creationTimestamp");
  }
  if (body.value("details", Json()) == Json::object()) body.erase("details");
  for (const char* at : {"/status/user", "/status/userInfo"}) {
    const Json::json_pointer pointer(at);
    if (!body.contains(pointer) || !body[pointer].contains("username")) continue;
    body[pointer].erase("uid");
    body[pointer]["username"] = "the user";
  }
  return body;
}

class ReviewsTest : public BothServersTest {
 protected:
  // `body` says TOKEN where a server's own token is meant.
  static std::string WithToken(std::string text, const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
    return text;
  }
  static Answer AskReal(const std::string& method, const std::string& path,
                        const std::string& body, const std::string& type = "application/json") {
    const std::string& token = plane_->token();
    const auto answer =
        plane_->client().Do(method, path, WithToken(body, "TOKEN", token), type);
    EXPECT_THAT(answer, IsOk());
    if (!answer.ok()) return {};
    return {answer->code, Comparable(WithToken(answer->body, token, "TOKEN"))};
  }
  static Answer AskLocal(const std::string& method, const std::string& path,
                         const std::string& body, const std::string& type = "application/json") {
    const std::string token = local_->token();
    const localkube::ApiResponse answer =
        local_->api().Handle({.method = method,
                              .target = path,
                              .body = WithToken(body, "TOKEN", token),
                              .content_type = type,
                              .accept = "application/json"});
    return {answer.code, Comparable(WithToken(answer.body, token, "TOKEN"))};
  }
  static void Compare(const std::string& method, const std::string& path, const std::string& body,
                      const std::string& type = "application/json") {
    SCOPED_TRACE(method + " " + path + " " + body);
    const Answer real = AskReal(method, path, body, type);
    const Answer local = AskLocal(method, path, body, type);
    EXPECT_EQ(local.code, real.code);
    EXPECT_EQ(local.body, real.body);
  }
};

TEST_F(ReviewsTest, OfTokens) {
  for (const char* spec :
       {R"({"token":"TOKEN"})", R"({"token":"wrong"})", R"({"token":""})", "{}", "null",
        R"({"token":"TOKEN","audiences":[]})", R"({"token":"TOKEN","audiences":["other"]})",
        R"({"token":"TOKEN","audiences":["x","https://kubernetes.default.svc"]})",
        R"({"token":5})", R"({"token":"TOKEN","audiences":"x"})",
        R"({"token":"TOKEN","colour":1})"}) {
    Compare("POST", kTokens, std::string(R"({"spec":)") + spec + "}");
  }
  Compare("POST", kTokens,
          R"({"metadata":{"name":"x","labels":{"a":"b"}},"spec":{"token":"TOKEN"}})");
  Compare("POST", std::string(kTokens) + "?dryRun=All", R"({"spec":{"token":"TOKEN"}})");
  Compare("POST", std::string(kTokens) + "?fieldValidation=Strict",
          R"({"colour":"red","spec":{"token":"TOKEN","colour":1}})");
}

TEST_F(ReviewsTest, OfWhoAsksAndWhatItMayDo) {
  Compare("POST", kWhoAmI, "{}");
  Compare("POST", kWhoAmI, R"({"metadata":{"name":"x"},"status":{"userInfo":{"username":"y"}}})");
  for (const char* spec :
       {R"({"resourceAttributes":{"verb":"create","resource":"pods","namespace":"default"}})",
        R"({"nonResourceAttributes":{"path":"/metrics","verb":"get"}})", "{}",
        R"({"resourceAttributes":{},"nonResourceAttributes":{}})",
        R"({"resourceAttributes":{"labelSelector":{}}})", R"({"resourceAttributes":"x"})"}) {
    Compare("POST", kSelfAccess, std::string(R"({"spec":)") + spec + "}");
  }
  Compare("POST", kSelfRules, "{}");
  Compare("POST", kSelfRules, R"({"spec":{"namespace":5}})");
  // A real one has rules for all users beside the one for its masters.
  const std::string body = R"({"metadata":{"name":"x"},"spec":{"namespace":"default"}})";
  Answer real = AskReal("POST", kSelfRules, body);
  Answer local = AskLocal("POST", kSelfRules, body);
  EXPECT_EQ(local.code, real.code);
  for (const char* rules : {"resourceRules", "nonResourceRules"}) {
    ASSERT_EQ(local.body["status"][rules].size(), 1u);
    EXPECT_THAT(std::vector<Json>(real.body["status"][rules]),
                testing::Contains(local.body["status"][rules][0]));
    real.body["status"].erase(rules);
    local.body["status"].erase(rules);
  }
  EXPECT_EQ(local.body, real.body);
}

TEST_F(ReviewsTest, OfTheAccessOfOthers) {
  const std::string pods = R"("resourceAttributes":{"verb":"get","resource":"pods"})";
  const std::string path = R"("nonResourceAttributes":{"path":"/x","verb":"get"})";
  for (const std::string& spec : std::vector<std::string>{
           R"({"user":"u","groups":["system:masters"],)" + pods + "}",
           R"({"groups":["system:masters"],)" + path + "}", R"({"user":"u",)" + pods + "}",
           R"({"user":"u","groups":["dev"],"uid":"7","extra":{"k":["v"]},)" + path + "}",
           R"({"user":"u",)" + pods + "," + path + "}", "{" + pods + "}", R"({"user":"u"})", "{}",
           R"({"user":5})", R"({"groups":[5]})", R"({"extra":{"k":"v"}})", R"({"user":"u",)" +
           std::string(R"("resourceAttributes":{"fieldSelector":{"requirements":[)") +
           R"({"operator":"In"},{"key":"a","operator":"Exists","values":["x"]}]}}})"}) {
    Compare("POST", kAccess, R"({"spec":)" + spec + "}");
    Compare("POST", kLocalAccess, R"({"spec":)" + spec + "}");
  }
  const std::string inside =
      R"("spec":{"user":"u","resourceAttributes":{"verb":"get","namespace":"default"}})";
  Compare("POST", kLocalAccess, "{" + inside + "}");
  Compare("POST", kLocalAccess, R"({"metadata":{"namespace":"team"},)" + inside + "}");
  Compare("POST", kAccess, R"({"metadata":{"namespace":"team"},)" + inside + "}");
  // A real one shows who manages which field, too.
  const std::string named = R"({"metadata":{"name":"x"},)" + inside + "}";
  for (const char* where : {kAccess, kLocalAccess}) {
    const Answer local = AskLocal("POST", where, named);
    const Answer real = AskReal("POST", where, named);
    EXPECT_EQ(local.code, real.code);
    ASSERT_EQ(local.body["details"]["causes"].size(), real.body["details"]["causes"].size());
    EXPECT_EQ(local.body["details"]["causes"][0]["field"],
              real.body["details"]["causes"][0]["field"]);
  }
}

TEST_F(ReviewsTest, WhatIsNoReviewIsRefusedWithTheSameCode) {
  for (const char* body : {"", "[]", "5", "{", R"({"kind":"Pod","apiVersion":"v1"})",
                           R"({"apiVersion":"authentication.k8s.io/v2","kind":"TokenReview"})"}) {
    SCOPED_TRACE(body);
    EXPECT_EQ(AskLocal("POST", kTokens, body).code, AskReal("POST", kTokens, body).code);
  }
}

TEST_F(ReviewsTest, TheirPathsAndTheirPlaceInDiscovery) {
  for (const std::string path :
       {kTokens, kWhoAmI, kAccess, kSelfAccess, kSelfRules, kLocalAccess}) {
    for (const char* method : {"GET", "PUT", "PATCH", "DELETE"}) {
      Compare(method, path, "{}");
      Compare(method, path + "/x", "{}");
    }
    Compare("POST", path + "/x", "{}");
    Compare("GET", path + "?watch=1", "");
  }
  Compare("POST", "/apis/authorization.k8s.io/v1/localsubjectaccessreviews", "{}");
  Compare("POST", "/apis/authentication.k8s.io/v1/namespaces/default/tokenreviews", "{}");
  for (const char* group : {"authentication.k8s.io", "authorization.k8s.io"}) {
    Compare("GET", std::string("/apis/") + group, "");
    Compare("GET", std::string("/apis/") + group + "/v1", "");
  }
}

TEST_F(ReviewsTest, InProtobuf) {
  const auto field = [](int number, const std::string& bytes) {
    std::string out;
    AppendField(number, bytes, &out);
    return out;
  };
  const char* type = "application/vnd.kubernetes.protobuf";
  const auto compare = [&](const char* path, const std::string& spec) {
    Compare("POST", path, WrapKubeProtobuf(field(1, "") + field(2, spec)), type);
  };
  // More values than one make no selector of fields; a real one then says so.
  const std::string one = field(1, "x") + field(2, "In") + field(3, "y");
  const std::string resource = field(1, "default") + field(2, "create") + field(3, "taas.dev") +
                               field(4, "v1") + field(5, "trainingjobs") + field(6, "status") +
                               field(7, "mnist") + field(8, field(2, one)) +
                               field(9, field(2, one + field(3, "z")));
  const std::string user = field(3, "u") + field(4, "dev") + field(4, "ops") +
                           field(5, field(1, "k") + field(2, field(1, "v"))) + field(6, "7");
  compare(kAccess, field(1, resource) + user);
  compare(kLocalAccess, field(1, resource) + user);
  compare(kAccess, field(2, field(1, "/x") + field(2, "get")) + user);
  compare(kAccess, user);
  compare(kSelfAccess, field(1, resource));
  compare(kSelfRules, field(1, ""));
  compare(kTokens, field(1, "wrong") + field(2, "a"));
  Compare("POST", kWhoAmI, WrapKubeProtobuf(field(1, "")), type);
}

}  // namespace
}  // namespace taas
