#include "operator/kube/kubeconfig.h"

#include <cstdlib>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kConfig[] = R"(
apiVersion: v1
kind: Config
current-context: local
contexts:
- {name: local, context: {cluster: c1, user: u1, namespace: team-a}}
- {name: files, context: {cluster: c2, user: u2}}
- {name: plugin, context: {cluster: c1, user: u3}}
- {name: nouser, context: {cluster: c3}}
- {name: nocluster, context: {cluster: gone, user: u1}}
- {name: badserver, context: {cluster: c4, user: u1}}
- {name: halfcert, context: {cluster: c1, user: u4}}
- {name: baddata, context: {cluster: c5, user: u1}}
- {name: basic, context: {cluster: c1, user: u5}}
clusters:
- {name: c1, cluster: {server: "https://127.0.0.1:6443/", certificate-authority-data: aGVsbG8=}}
- {name: c2, cluster: {server: "https://h/prefix", certificate-authority: pki/ca.crt}}
- {name: c3, cluster: {server: "http://127.0.0.1:8080", insecure-skip-tls-verify: true}}
- {name: c4, cluster: {server: "127.0.0.1:6443"}}
- {name: c5, cluster: {server: "https://h", certificate-authority-data: "!!!"}}
users:
- {name: u1, user: {token: secret}}
- {name: u2, user: {client-certificate: /abs/c.crt, client-key: c.key, tokenFile: t, token: old}}
- name: u3
  user: {exec: {command: aws, apiVersion: client.authentication.k8s.io/v1}}
- {name: u4, user: {client-certificate: /abs/c.crt}}
- {name: u5, user: {username: admin, password: x}}
)";

absl::StatusOr<ClusterAccess> Parse(const std::string& context) {
  return ParseKubeconfig(kConfig, "/home/u/.kube/config", context);
}

TEST(KubeconfigTest, TheCurrentContextIsTaken) {
  const absl::StatusOr<ClusterAccess> access = Parse("");
  ASSERT_THAT(access, IsOk());
  EXPECT_EQ(access->server, "https://127.0.0.1:6443");
  EXPECT_EQ(access->ca.text, "hello");
  EXPECT_EQ(access->token.text, "secret");
  EXPECT_EQ(access->ns, "team-a");
  EXPECT_EQ(access->source, "/home/u/.kube/config");
  EXPECT_FALSE(access->insecure_skip_tls_verify);
}

TEST(KubeconfigTest, FileNamesAreTakenFromTheFoldersOfTheConfigAndTheTokenFileFirst) {
  const absl::StatusOr<ClusterAccess> access = Parse("files");
  ASSERT_THAT(access, IsOk());
  EXPECT_EQ(access->server, "https://h/prefix");
  EXPECT_EQ(access->ca.file, "/home/u/.kube/pki/ca.crt");
  EXPECT_EQ(access->client_certificate.file, "/abs/c.crt");
  EXPECT_EQ(access->client_key.file, "/home/u/.kube/c.key");
  EXPECT_EQ(access->token.file, "/home/u/.kube/t");
  EXPECT_EQ(access->token.text, "");
  EXPECT_EQ(access->ns, "default");
}

TEST(KubeconfigTest, AContextWithoutAUserIsAnonymous) {
  const absl::StatusOr<ClusterAccess> access = Parse("nouser");
  ASSERT_THAT(access, IsOk());
  EXPECT_TRUE(access->token.empty());
  EXPECT_TRUE(access->insecure_skip_tls_verify);
}

struct Case {
  const char* name;
  const char* context;
  const char* message;
};

class KubeconfigErrorTest : public testing::TestWithParam<Case> {};

TEST_P(KubeconfigErrorTest, TheMessageNamesFileAndField) {
  EXPECT_THAT(Parse(GetParam().context),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("/home/u/.kube/config"), HasSubstr(GetParam().message))));
}

INSTANTIATE_TEST_SUITE_P(
    Table, KubeconfigErrorTest,
    testing::Values(Case{"NoSuchContext", "nope", "contexts: there is no entry named \"nope\""},
                    Case{"NoSuchCluster", "nocluster", "clusters: there is no entry named"},
                    Case{"ExecPlugin", "plugin", "users[u3].user.exec: runs a program"},
                    Case{"ServerWithoutScheme", "badserver", "clusters[c4].cluster.server"},
                    Case{"CertificateWithoutKey", "halfcert", "client-key must be given together"},
                    Case{"DataThatIsNoBase64", "baddata", "certificate-authority-data"},
                    Case{"BasicAuthentication", "basic", "users[u5].user.username"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(KubeconfigTest, WhatIsNoKubeconfigIsRefused) {
  for (const char* text : {"", "[1, 2]", "just text", "a: [", "kind: Config",
                           "contexts: 3\ncurrent-context: x",
                           "current-context: x\ncontexts: [{name: x, context: 5}]"}) {
    EXPECT_THAT(ParseKubeconfig(text, "f", ""),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("kubeconfig f")))
        << text;
  }
}

TEST(KubeconfigTest, AMissingFileIsNamed) {
  PosixFileSystem files;
  EXPECT_THAT(LoadKubeconfig(files, "/nonexistent/config", ""),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nonexistent/config")));
}

class FindAccessTest : public testing::Test {
 protected:
  FindAccessTest() {
    EXPECT_THAT(files_.MakeDirs(dir_ + "/.kube"), IsOk());
    EXPECT_THAT(files_.WriteAtomically(dir_ + "/.kube/config", kConfig), IsOk());
  }
  Getenv Env() {
    return [this](const std::string& name) -> std::optional<std::string> {
      const auto found = env_.find(name);
      if (found == env_.end()) return std::nullopt;
      return found->second;
    };
  }
  PosixFileSystem files_;
  const std::string dir_ = std::string(std::getenv("TEST_TMPDIR")) + "/home";
  std::map<std::string, std::string> env_;
};

TEST_F(FindAccessTest, TheHomesConfigIsTheLastResort) {
  env_["HOME"] = dir_;
  EXPECT_EQ(FindClusterAccess(files_, Env(), "", "")->ns, "team-a");
}

TEST_F(FindAccessTest, WithoutAnyItSaysWhatToDo) {
  EXPECT_THAT(FindClusterAccess(files_, Env(), "", ""),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("--kubeconfig")));
}

TEST_F(FindAccessTest, FlagThenVariableThenPodThenHome) {
  env_["HOME"] = "/nonexistent";
  env_["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  env_["KUBERNETES_SERVICE_PORT"] = "443";
  const absl::StatusOr<ClusterAccess> pod = FindClusterAccess(files_, Env(), "", "");
  ASSERT_THAT(pod, IsOk());
  EXPECT_EQ(pod->server, "https://[fd00::1]:443");
  EXPECT_EQ(pod->token.file, "/var/run/secrets/kubernetes.io/serviceaccount/token");
  env_["KUBECONFIG"] = dir_ + "/.kube/config";
  EXPECT_EQ(FindClusterAccess(files_, Env(), "", "")->ns, "team-a");
  EXPECT_THAT(FindClusterAccess(files_, Env(), "/nonexistent", ""),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(FindAccessTest, APodsNamespaceIsRead) {
  EXPECT_THAT(files_.WriteAtomically(dir_ + "/namespace", "team-b"), IsOk());
  env_["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
  env_["KUBERNETES_SERVICE_PORT"] = "443";
  EXPECT_EQ(LoadInCluster(files_, Env(), dir_)->ns, "team-b");
}

}  // namespace
}  // namespace taas
