// The dashboard before a real kube-apiserver: who gets what, with which token, from where.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "dashboard/server/dashboard_process.h"
#include "e2e/control_plane.h"
#include "e2e/dashboard_client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using dashboard::DashboardOptions;
using dashboard::DashboardProcess;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr std::chrono::seconds kPatience{60};

// The dashboard's own account has what the chart gives it; ann may edit in a, vic may see there,
// bob may edit in b, and zoe may nothing.
constexpr char kPeople[] = R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: a}}
- {apiVersion: v1, kind: Namespace, metadata: {name: b}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: dashboard, namespace: default}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: ann, namespace: default}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: vic, namespace: default}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: bob, namespace: default}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: zoe, namespace: default}}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: dashboard}
  rules:
  - {apiGroups: [authentication.k8s.io], resources: [tokenreviews], verbs: [create]}
  - {apiGroups: [authorization.k8s.io], resources: [subjectaccessreviews], verbs: [create]}
  - {apiGroups: [taas.dev], resources: [trainingjobs], verbs: [list, watch]}
  - {apiGroups: [kubeflow.org], resources: [tfjobs], verbs: [list, watch]}
  - {apiGroups: [""], resources: [pods, events, nodes], verbs: [list, watch]}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: sees}
  rules:
  - {apiGroups: [taas.dev], resources: [trainingjobs], verbs: [get, list, watch]}
  - {apiGroups: [""], resources: [pods], verbs: [get, list, watch]}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: edits}
  rules:
  - {apiGroups: [taas.dev], resources: [trainingjobs], verbs: ["*"]}
  - {apiGroups: [""], resources: [pods, pods/log, events], verbs: [get, list, watch]}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRoleBinding
  metadata: {name: dashboard}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: dashboard}
  subjects: [{kind: ServiceAccount, name: dashboard, namespace: default}]
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata: {name: ann, namespace: a}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edits}
  subjects: [{kind: ServiceAccount, name: ann, namespace: default}]
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata: {name: vic, namespace: a}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: sees}
  subjects: [{kind: ServiceAccount, name: vic, namespace: default}]
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata: {name: bob, namespace: b}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edits}
  subjects: [{kind: ServiceAccount, name: bob, namespace: default}]
)";

std::string Manifest(const std::string& ns, const std::string& name) {
  return "apiVersion: taas.dev/v1\nkind: TrainingJob\nmetadata: {name: " + name +
         ", namespace: " + ns + "}\nspec:\n  roles:\n    worker:\n      replicas: 2\n" +
         "      template: {spec: {containers: [{name: trainer, image: \"secret-image:1\"}]}}\n";
}

// One server and one dashboard for all tests: they change no job but their own.
class DashboardSecurityTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = testing::TempDir() + "/security";
    auto plane = ControlPlane::Start(dir_);
    ASSERT_THAT(plane, IsOk());
    plane_ = plane->release();
    for (const char* crd : {"crds/trainingjobs.yaml", "crds/tfjobs.yaml"}) {
      ASSERT_NO_FATAL_FAILURE(Kubectl({"create", "-f", crd}));
    }
    ASSERT_NO_FATAL_FAILURE(
        Kubectl({"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"}));
    Apply(kPeople);
    Apply(Manifest("a", "one"));
    Apply(Manifest("b", "two"));
    for (const char* name : {"dashboard", "ann", "vic", "bob", "zoe"}) {
      tokens_[name] = Kubectl({"create", "token", name});
    }
    std::ofstream(dir_ + "/dashboard.kubeconfig")
        << "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
        << "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
        << "clusters: [{name: c, cluster: {server: '" << plane_->server()
        << "', certificate-authority: " << plane_->ca_file() << "}}]\n"
        << "users: [{name: u, user: {token: " << tokens_["dashboard"] << "}}]\n";
    process_ = Start({}).release();
  }
  static void TearDownTestSuite() {
    delete process_;
    delete plane_;
  }

  static std::unique_ptr<DashboardProcess> Start(DashboardOptions options) {
    options.kubeconfig = dir_ + "/dashboard.kubeconfig";
    options.address = "127.0.0.1:0";
    auto process = DashboardProcess::Start(options);
    EXPECT_THAT(process, IsOk());
    const RealClock clock;
    const Clock::Time deadline = clock.Now() + kPatience;
    while (!(*process)->Ready() && clock.Now() < deadline) {
      clock.SleepUntil(clock.Now() + std::chrono::milliseconds(20));
    }
    EXPECT_TRUE((*process)->Ready());
    return *std::move(process);
  }

  // What it prints, without the line's end.
  static std::string Kubectl(const std::vector<std::string>& arguments) {
    const auto output = plane_->Kubectl(arguments);
    EXPECT_THAT(output, IsOk());
    EXPECT_EQ(output->exit_code, 0) << output->text;
    std::string text = output->text;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }
  static void Apply(const std::string& text) {
    const std::string path = dir_ + "/apply.yaml";
    std::ofstream(path) << text;
    Kubectl({"create", "-f", path});
  }
  static std::string AuditLog() {
    std::stringstream text;
    text << std::ifstream(plane_->audit_log()).rdbuf();
    return text.str();
  }

  static DashboardClient Client() { return DashboardClient(process_->port()); }
  static WebAnswer As(const std::string& who, const std::string& method,
                      const std::string& target, const std::string& body = "") {
    return Client().Do(method, target, Bearer(tokens_[who]), body);
  }
  static std::vector<std::string> Names(const WebAnswer& answer) {
    std::vector<std::string> out;
    EXPECT_EQ(answer.code, 200) << answer.body;
    const nlohmann::json list = answer.json();
    for (const auto& row : list["jobs"]) out.push_back(row["name"]);
    return out;
  }
  // Every route, with values in the place of names.
  static std::vector<std::pair<std::string, std::string>> Routes() {
    std::vector<std::pair<std::string, std::string>> out;
    for (const std::string& name : process_->routes()) {
      const size_t space = name.find(' ');
      std::string path = "/api/" + name.substr(space + 1);
      const std::vector<std::string> values = {"b", "trainingjobs", "two", "x"};
      for (size_t i = 0, at = path.find('*'); at != std::string::npos; at = path.find('*'), ++i) {
        path.replace(at, 1, values[std::min(i, values.size() - 1)]);
      }
      out.emplace_back(name.substr(0, space), path);
    }
    return out;
  }

  static std::string dir_;
  static ControlPlane* plane_;
  static DashboardProcess* process_;
  static std::map<std::string, std::string> tokens_;
};
std::string DashboardSecurityTest::dir_;
ControlPlane* DashboardSecurityTest::plane_ = nullptr;
DashboardProcess* DashboardSecurityTest::process_ = nullptr;
std::map<std::string, std::string> DashboardSecurityTest::tokens_;

TEST_F(DashboardSecurityTest, NoRouteAnswersWithoutATokenOrWithABadOne) {
  ASSERT_GE(Routes().size(), 10u);
  for (const auto& [method, path] : Routes()) {
    const WebAnswer without = Client().Do(method, path, {}, method == "GET" ? "" : "{}");
    EXPECT_EQ(without.code, 401) << method << " " << path;
    EXPECT_EQ(without.reason(), "Unauthenticated") << path;
    EXPECT_THAT(without.headers, Contains(testing::Pair("cache-control", "no-store"))) << path;
    const WebAnswer bad = Client().Do(method, path, Bearer("nobody"), method == "GET" ? "" : "{}");
    EXPECT_EQ(bad.code, 401) << method << " " << path;
  }
}

TEST_F(DashboardSecurityTest, EachSeesTheJobsOfHerNamespacesAlone) {
  EXPECT_THAT(Names(As("vic", "GET", "/api/jobs")), testing::ElementsAre("one"));
  EXPECT_THAT(Names(As("bob", "GET", "/api/jobs")), testing::ElementsAre("two"));
  EXPECT_THAT(Names(As("zoe", "GET", "/api/jobs")), IsEmpty());
  EXPECT_THAT(As("vic", "GET", "/api/session").json()["namespaces"],
              testing::ElementsAre("a"));
  const std::string stream =
      Client().Stream("/api/stream?jobs=1&job=b/trainingjobs/two&gpus=1&queues=1",
                      Bearer(tokens_["vic"]), "{\"job\":");
  EXPECT_THAT(stream, HasSubstr("\"name\":\"one\""));
  EXPECT_THAT(stream, Not(HasSubstr("\"two\"")));
  EXPECT_THAT(stream, HasSubstr("{\"job\":null}"));
}

TEST_F(DashboardSecurityTest, OfWhatIsOutOfSightNothingIsSaidOrDone) {
  for (const auto& [method, path] : Routes()) {
    if (path.find("/two") == std::string::npos) continue;
    const WebAnswer answer =
        As("ann", method, path, method == "PATCH" ? R"({"suspend": true})" : "");
    EXPECT_THAT(answer.code, AnyOf(403, 404)) << method << " " << path << ": " << answer.body;
    EXPECT_THAT(answer.body, Not(HasSubstr("secret-image"))) << path;
  }
  EXPECT_EQ(As("ann", "GET", "/api/pods/b/two-chief-0").code, 403);
  EXPECT_EQ(Kubectl({"-n", "b", "get", "tj", "two", "-o", "jsonpath={.spec.suspend}"}), "false");
  // One that exists and one that does not look the same.
  EXPECT_EQ(As("ann", "GET", "/api/jobs/b/trainingjobs/two").code,
            As("ann", "GET", "/api/jobs/b/trainingjobs/three").code);
}

TEST_F(DashboardSecurityTest, WhatIsChangedIsChangedWithTheCallersOwnRights) {
  const std::string path = "/api/jobs/a/trainingjobs/mine";
  EXPECT_EQ(As("vic", "POST", "/api/jobs", Manifest("a", "mine")).reason(), "Forbidden");
  const WebAnswer made = As("ann", "POST", "/api/jobs", Manifest("a", "mine"));
  ASSERT_EQ(made.code, 201) << made.body;
  EXPECT_EQ(made.json()["object"]["metadata"]["name"], "mine");
  EXPECT_FALSE(made.json()["object"]["metadata"].contains("managedFields"));
  Client().Stream("/api/stream?jobs=1", Bearer(tokens_["ann"]), "\"mine\"");
  EXPECT_EQ(As("vic", "PATCH", path, R"({"suspend": true})").reason(), "Forbidden");
  EXPECT_EQ(As("vic", "DELETE", path).reason(), "Forbidden");
  const WebAnswer detail = As("vic", "GET", path);
  EXPECT_EQ(detail.json()["access"]["update"], false);
  EXPECT_EQ(detail.json()["access"]["logs"], false);
  EXPECT_EQ(As("ann", "GET", path).json()["access"]["update"], true);
  EXPECT_EQ(As("ann", "PATCH", path, R"({"suspend": true, "workers": 3})").code, 200);
  EXPECT_EQ(Kubectl({"-n", "a", "get", "tj", "mine", "-o",
                     "jsonpath={.spec.suspend} {.spec.roles.worker.replicas}"}),
            "true 3");
  EXPECT_EQ(As("ann", "DELETE", path).code, 200);
  // The API server has heard these writes from ann and none from the dashboard.
  EXPECT_THAT(AuditLog(), HasSubstr("system:serviceaccount:default:ann"));
  std::istringstream lines(AuditLog());
  for (std::string line; std::getline(lines, line);) {
    if (line.find("serviceaccount:default:dashboard") == std::string::npos) continue;
    EXPECT_THAT(line, AnyOf(HasSubstr("tokenreviews"), HasSubstr("subjectaccessreviews")));
  }
}

TEST_F(DashboardSecurityTest, ADryRunSaysWhichFieldIsWrongAndMakesNothing) {
  std::string wrong = Manifest("a", "dry");
  wrong += "  backoffLimit: -1\n";
  const WebAnswer answer = As("ann", "POST", "/api/jobs?dryRun=true", wrong);
  EXPECT_EQ(answer.code, 422) << answer.body;
  EXPECT_EQ(answer.json()["error"]["causes"][0]["field"], "spec.backoffLimit");
  EXPECT_EQ(As("ann", "POST", "/api/jobs?dryRun=true", Manifest("a", "dry") + "  typo: 1\n").code,
            400);
  EXPECT_EQ(As("ann", "POST", "/api/jobs?dryRun=true", Manifest("a", "dry")).code, 201);
  EXPECT_EQ(Kubectl({"-n", "a", "get", "tj", "dry", "--ignore-not-found", "-o", "name"}), "");
}

TEST_F(DashboardSecurityTest, ACookieIsForThePageAlone) {
  const WebAnswer login =
      Client().Do("POST", "/api/session", {}, R"({"token": ")" + tokens_["ann"] + R"("})");
  ASSERT_EQ(login.code, 200) << login.body;
  const std::string set = login.headers.at("set-cookie");
  EXPECT_THAT(set, HasSubstr("; HttpOnly; SameSite=Strict; Max-Age=604800"));
  const std::string cookie = set.substr(0, set.find(';'));
  const std::string half = login.json()["half"];
  EXPECT_THAT(set + login.body, Not(HasSubstr(tokens_["ann"])));
  const std::string path = "/api/jobs/a/trainingjobs/one";
  const std::string change = R"({"workers": 2})";
  const auto patch = [&](DashboardClient::Headers headers) {
    headers["Cookie"] = cookie;
    return Client().Do("PATCH", path, headers, change);
  };
  // What a browser sends by itself, also to other ports of this host, is not enough to write or
  // to read.
  EXPECT_EQ(patch({}).reason(), "Unauthenticated");
  EXPECT_EQ(Client().Do("GET", "/api/jobs", {{"Cookie", cookie}}).reason(), "Unauthenticated");
  EXPECT_EQ(Client().Do("GET", "/api/jobs", {{"X-TaaS-Session", half}}).reason(),
            "Unauthenticated");
  EXPECT_EQ(patch({{"X-TaaS-Session", std::string(64, '0')}}).reason(), "Unauthenticated");
  EXPECT_EQ(patch({{"X-TaaS-Session", half}, {"Origin", "http://evil.example"}}).reason(),
            "Forbidden");
  EXPECT_EQ(patch({{"X-TaaS-Session", half}, {"Origin", "null"}}).reason(), "Forbidden");
  EXPECT_EQ(patch({{"X-TaaS-Session", half}, {"Sec-Fetch-Site", "cross-site"}}).reason(),
            "Forbidden");
  const std::string own = "http://127.0.0.1:" + std::to_string(process_->port());
  EXPECT_EQ(patch({{"X-TaaS-Session", half}, {"Origin", own}}).code, 200);
  // The cookie lives on when the page is opened again.
  EXPECT_EQ(Client()
                .Do("GET", "/api/session", {{"Cookie", cookie}, {"X-TaaS-Session", half}})
                .headers.at("set-cookie"),
            set);
  // A page of another site cannot read either.
  EXPECT_EQ(Client().Do("GET", "/api/jobs", {{"Cookie", cookie}, {"Origin", "http://x"}}).code,
            403);
  const WebAnswer out = Client().Do("DELETE", "/api/session");
  EXPECT_THAT(out.headers.at("set-cookie"), HasSubstr("Max-Age=0"));
  // What may be no token goes no further, nor into a header.
  EXPECT_EQ(Client().Do("POST", "/api/session", {}, R"({"token": "a\r\nX: y"})").code, 401);
  EXPECT_EQ(Client().Do("POST", "/api/session", {}, R"({"token": 7})").code, 401);
  EXPECT_EQ(Client().Do("POST", "/api/session", {}, "{").code, 400);
}

// Symptom: anybody with a token, and no rights at all, ended the dashboard with one POST of 1 MB:
// an anchor on a long text, and 2,000 aliases of it.
TEST_F(DashboardSecurityTest, AliasesOfALongTextAreRefusedAndRightsComeFirst) {
  std::string fan = Manifest("a", "fan") + "  x: &a " + std::string(1 << 20, 'x') + "\n  y:\n";
  for (int i = 0; i < 2'000; ++i) fan += "  - *a\n";
  EXPECT_EQ(As("zoe", "POST", "/api/jobs?dryRun=true", fan).reason(), "Forbidden");
  const WebAnswer answer = As("ann", "POST", "/api/jobs?dryRun=true", fan);
  EXPECT_EQ(answer.code, 400) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr("aliases expand to more than"));
  EXPECT_EQ(As("ann", "POST", "/api/jobs?dryRun=true&namespace=b", Manifest("a", "dry")).code, 201);
}

TEST_F(DashboardSecurityTest, ANameOfAnotherHostIsNotAnswered) {
  for (const char* path : {"/", "/api/jobs", "/api/session"}) {
    EXPECT_EQ(Client().Do("GET", path, {{"Host", "evil.example"}}).code, 403) << path;
  }
}

// Symptom: a header that a proxy or a browser adds makes the API server take the caller for another
// (tektoncd/dashboard#1416).
TEST_F(DashboardSecurityTest, HeadersOfImpersonationCountForNothing) {
  auto headers = Bearer(tokens_["vic"]);
  headers["Impersonate-User"] = "system:serviceaccount:default:ann";
  headers["Impersonate-Group"] = "system:masters";
  headers["X-Remote-User"] = "admin";
  EXPECT_EQ(Client().Do("DELETE", "/api/jobs/a/trainingjobs/one", headers).reason(), "Forbidden");
  EXPECT_EQ(Client().Do("GET", "/api/session", headers).json()["user"],
            "system:serviceaccount:default:vic");
}

TEST_F(DashboardSecurityTest, APathThatClimbsLeadsNowhere) {
  const auto headers = Bearer(tokens_["ann"]);
  for (const char* path :
       {"/api/pods/a/../../../secrets", "/api/pods/a/%2e%2e%2fsecrets", "/assets/../api/jobs",
        "/assets/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/pods/a%2fpods%2fx/y"}) {
    EXPECT_EQ(Client().Do("GET", path, headers).code, 400) << path;
  }
  EXPECT_EQ(Client().Do("GET", "/assets/none.js").code, 404);
  EXPECT_EQ(Client().Do("GET", "/api/none", headers).code, 404);
  EXPECT_EQ(Client().Do("PUT", "/api/jobs", headers, "{}").code, 405);
  EXPECT_EQ(Client().Do("TRACE", "/", headers).code, 405);
  // A name that would be a query or another resource stays a name.
  EXPECT_EQ(Client().Do("GET", "/api/pods/a/x%3Fwatch=1", headers).code, 404);
}

TEST_F(DashboardSecurityTest, WhatIsTooLargeIsRefused) {
  const std::string large(4 << 20, 'x');
  EXPECT_EQ(As("ann", "POST", "/api/jobs", large).code, 413);
  auto headers = Bearer(tokens_["ann"]);
  headers["X"] = std::string(40'000, 'x');
  EXPECT_EQ(Client().Do("GET", "/api/jobs", headers).code, 431);
  EXPECT_THAT(Client().Raw("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400"));
}

TEST_F(DashboardSecurityTest, ThePageRunsNothingButItsOwnFiles) {
  for (const char* path : {"/", "/jobs/a/trainingjobs/one", "/gpus/"}) {
    const WebAnswer page = Client().Do("GET", path);
    ASSERT_EQ(page.code, 200) << path;
    const std::string policy = page.headers.at("content-security-policy");
    EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
    EXPECT_THAT(policy, HasSubstr("script-src 'self';"));
    EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
    EXPECT_EQ(page.headers.at("x-content-type-options"), "nosniff");
  }
  EXPECT_NE(Client().Do("GET", "/").headers.at("content-security-policy"),
            Client().Do("GET", "/").headers.at("content-security-policy"));
}

TEST_F(DashboardSecurityTest, AReadOnlyDashboardChangesNothing) {
  const auto read_only = Start({.read_only = true});
  const DashboardClient client(read_only->port());
  for (const std::string& name : read_only->routes()) {
    if (name.rfind("GET ", 0) == 0) continue;
    const size_t space = name.find(' ');
    std::string path = "/api/" + name.substr(space + 1);
    for (size_t at = path.find('*'); at != std::string::npos; at = path.find('*')) {
      path.replace(at, 1, "a");
    }
    EXPECT_EQ(client.Do(name.substr(0, space), path, Bearer(tokens_["ann"]), "{}").reason(),
              "ReadOnly") << name;
  }
  EXPECT_EQ(client.Do("GET", "/api/session", Bearer(tokens_["ann"])).json()["readOnly"], true);
}

TEST_F(DashboardSecurityTest, NamedHostsAndFramesAreTakenAndOthersAreNot) {
  const auto process = Start({.base_path = "/taas",
                              .hosts = {"taas.example"},
                              .frame_ancestors = {"https://portal.example"}});
  const DashboardClient client(process->port());
  EXPECT_EQ(client.Do("GET", "/taas/", {{"Host", "taas.example"}}).code, 200);
  EXPECT_EQ(client.Do("GET", "/taas/").code, 403);
  const auto policy = [&](const std::string& path) {
    return client.Do("GET", path, {{"Host", "taas.example"}})
        .headers.at("content-security-policy");
  };
  EXPECT_THAT(policy("/taas/embed/jobs/a/one/loss"),
              HasSubstr("frame-ancestors https://portal.example"));
  EXPECT_THAT(policy("/taas/jobs"), HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(client.Do("GET", "/taas/jobs/a/b", {{"Host", "taas.example"}}).body,
              HasSubstr("<base href=\"../../\""));
}

}  // namespace
}  // namespace taas
