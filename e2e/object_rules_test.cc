// What any object may say: the local API server takes and refuses what a real one does, in the same
// words, whichever verb or patch brings it.

#include <ostream>
#include <string>
#include <vector>

#include "e2e/both_servers_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/api/api_server.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";
constexpr char kPods[] = "/api/v1/namespaces/default/pods";
constexpr char kJson[] = "application/json";
constexpr char kMerge[] = "application/merge-patch+json";
constexpr char kJsonPatch[] = "application/json-patch+json";
constexpr char kStrategic[] = "application/strategic-merge-patch+json";

// Code, reason and words; of an object only the code.
struct Verdict {
  int code = 0;
  std::string reason;
  std::string message;

  bool operator==(const Verdict&) const = default;
};

void PrintTo(const Verdict& verdict, std::ostream* out) {
  *out << verdict.code << " " << verdict.reason << ": " << verdict.message;
}

Verdict VerdictOf(int code, const std::string& text) {
  const Json body = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!body.is_object() || code < 400) return {.code = code, .reason = {}, .message = {}};
  return {code, body.value("reason", ""), body.value("message", "")};
}

// Of "Pod in version "v1" cannot be handled as a Pod: CAUSE".
std::string CauseOf(const std::string& message) {
  const size_t handled = message.find(" cannot be handled as a ");
  const size_t colon = handled == std::string::npos ? handled : message.find(": ", handled);
  return colon == std::string::npos ? message : message.substr(colon + 2);
}

class ObjectRulesTest : public BothServersTest {
 protected:
  // Both servers' verdict, which must be one.
  static Verdict Ask(const std::string& method, const std::string& path, const Json& body,
                     const std::string& type = kJson) {
    const std::string text = body.is_null() ? "" : body.dump();
    SCOPED_TRACE(method + " " + path + " " + type + " " + text.substr(0, 300));
    const auto answer = plane_->client().Do(method, path, text, type);
    EXPECT_THAT(answer, IsOk());
    if (!answer.ok()) return {};
    const Verdict real = VerdictOf(answer->code, answer->body);
    const localkube::ApiResponse reply =
        local_->api().Handle({.method = method,
                              .target = path,
                              .body = text,
                              .content_type = type,
                              .accept = kJson});
    const Verdict ours = VerdictOf(reply.code, reply.body);
    if (real.code == 400) {
      // What cannot be decoded: ours may say where, too.
      EXPECT_EQ(ours.code, 400) << ours.message;
      EXPECT_THAT(ours.message, testing::HasSubstr(CauseOf(real.message)));
    } else {
      EXPECT_EQ(ours, real);
    }
    return real;
  }

  static Json Map(const Json& metadata) {
    Json map = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", metadata}};
    map["metadata"]["name"] = "a";
    return map;
  }
  static std::string Path() { return std::string(kMaps) + "/a"; }
  static void Fresh() {
    Ask("DELETE", Path(), nullptr);
    EXPECT_EQ(Ask("POST", kMaps, Map(Json::object())).code, 201);
  }
  // By every way that there is to write it.
  static void Everywhere(const Json& metadata) {
    Ask("DELETE", Path(), nullptr);
    Ask("POST", kMaps, Map(metadata));
    Fresh();
    Ask("PUT", Path(), Map(metadata));
    Fresh();
    Ask("PATCH", Path(), {{"metadata", metadata}}, kMerge);
    Fresh();
    Ask("PATCH", Path(), {{"metadata", metadata}}, kStrategic);
    Fresh();
    Json operations = Json::array();
    for (const auto& [field, value] : metadata.items()) {
      operations.push_back({{"op", "add"}, {"path", "/metadata/" + field}, {"value", value}});
    }
    Ask("PATCH", Path(), operations, kJsonPatch);
  }

  static Json Pod(const Json& resources) {
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", {{"name", "p"}}},
            {"spec",
             {{"containers",
               Json::array({{{"name", "c"}, {"image", "i"}, {"resources", resources}}})}}}};
  }
};

TEST_F(ObjectRulesTest, OfLabels) {
  for (const char* key : {"a b c", "a/b/c", "/a", "a/", "", "A_b/c", "-a", "a", "example.com/N"}) {
    Everywhere({{"labels", {{key, "x"}}}});
  }
  Everywhere({{"labels", {{std::string(64, 'k'), "x"}}}});
  Everywhere({{"labels", {{std::string(254, 'k') + "/a", "x"}}}});
  for (const std::string& value : {std::string(98, 'v'), std::string("a b"), std::string("-a"),
                                   std::string(), std::string("a.b")}) {
    Everywhere({{"labels", {{"k", value}}}});
  }
}

TEST_F(ObjectRulesTest, OfAnnotations) {
  Everywhere({{"annotations", {{"k", std::string(262'143, 'a')}}}});
  Everywhere({{"annotations", {{"k", std::string(262'144, 'a')}}}});
  for (const char* key : {"a b", "Example.COM/Name", "a/b/c"}) {
    Everywhere({{"annotations", {{key, "any \n text"}}}});
  }
}

TEST_F(ObjectRulesTest, OfFinalizers) {
  for (const char* name : {"a b", "hold", "/x"}) {
    Everywhere({{"finalizers", Json::array({name})}});
  }
  Everywhere({{"finalizers", {"orphan", "foregroundDeletion"}}});
  // Of one that is being deleted.
  Fresh();
  Ask("PATCH", Path(), {{"metadata", {{"finalizers", {"test/a", "test/b"}}}}}, kMerge);
  Ask("DELETE", Path(), nullptr);
  for (const char* type : {kMerge, kStrategic}) {
    const Verdict verdict =
        Ask("PATCH", Path(), {{"metadata", {{"finalizers", {"test/a", "test/c"}}}}}, type);
    EXPECT_EQ(verdict.code, 422);
  }
  Ask("PATCH", Path(), {{"metadata", {{"finalizers", {"test/a"}}}}}, kMerge);
  Ask("PATCH", Path(), {{"metadata", {{"finalizers", nullptr}}}}, kMerge);
  EXPECT_EQ(Ask("GET", Path(), nullptr).code, 404);
}

TEST_F(ObjectRulesTest, OfOwners) {
  for (const char* field : {"name", "apiVersion", "kind"}) {
    Json owner = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "p"}, {"uid", "u"}};
    owner[field] = "";
    Everywhere({{"ownerReferences", Json::array({owner})}});
  }
}

TEST_F(ObjectRulesTest, OfTheStatusOfAPod) {
  Ask("POST", kPods, Pod(Json::object()));
  EXPECT_EQ(Ask("PATCH", std::string(kPods) + "/p/status",
                {{"metadata", {{"labels", {{"a b", "x"}}}}}}, kMerge)
                .code,
            422);
  Ask("DELETE", std::string(kPods) + "/p?gracePeriodSeconds=0", nullptr);
}

TEST_F(ObjectRulesTest, OfQuantities) {
  for (const Json& quantity :
       {Json("4GB"), Json("abc"), Json(""), Json("4K"), Json("1 Gi"), Json("0x10"), Json("1.2.3"),
        Json("1e3k"), Json("1e"), Json("Ei"), Json("-1"), Json(" 4Gi "), Json("1e3"),
        Json("1.5Gi"), Json("100n"), Json("1Pi"), Json("2E"), Json(0.5), Json(4'000'000'000),
        Json("."), Json("m"), Json("+1"), Json(".5"), Json("1."), Json("1E")}) {
    for (const char* list : {"limits", "requests"}) {
      Ask("POST", kPods, Pod({{list, {{"memory", quantity}}}}));
      Ask("DELETE", std::string(kPods) + "/p?gracePeriodSeconds=0", nullptr);
    }
  }
}

TEST_F(ObjectRulesTest, OfRequestsAndLimits) {
  for (const char* resources :
       {R"({"limits":{"cpu":"1"},"requests":{"cpu":"1001m"}})",
        R"({"limits":{"cpu":"1"},"requests":{"cpu":"1"}})",
        R"({"limits":{"nvidia.com/gpu":"1"}})", R"({"requests":{"nvidia.com/gpu":"1"}})",
        R"({"limits":{"nvidia.com/gpu":"2"},"requests":{"nvidia.com/gpu":"1"}})",
        R"({"limits":{"nvidia.com/gpu":"500m"}})", R"({"limits":{"pods":"1"}})",
        R"({"limits":{"gpu":"1"}})", R"({"limits":{"a b/c":"1"}})"}) {
    Ask("POST", kPods, Pod(Json::parse(resources)));
    Ask("DELETE", std::string(kPods) + "/p?gracePeriodSeconds=0", nullptr);
  }
}

TEST_F(ObjectRulesTest, OfClaims) {
  const std::string claims = "/api/v1/namespaces/default/persistentvolumeclaims";
  for (const char* size : {"10GB", "10Gi"}) {
    Ask("POST", claims,
        {{"apiVersion", "v1"},
         {"kind", "PersistentVolumeClaim"},
         {"metadata", {{"name", "c"}}},
         {"spec",
          {{"accessModes", {"ReadWriteOnce"}},
           {"resources", {{"requests", {{"storage", size}}}}}}}});
  }
}

}  // namespace
}  // namespace taas
