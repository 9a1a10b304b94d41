// A kubeconfig that somebody names.

#include <string>
#include <vector>

#include "operator/kube/kubeconfig.h"
#include "tools/fuzz/target.h"

namespace taas {

std::vector<std::string> FuzzSeeds() {
  return {R"(apiVersion: v1
kind: Config
current-context: c
contexts:
- {name: c, context: {cluster: k, user: u, namespace: n}}
clusters:
- name: k
  cluster: {server: "https://127.0.0.1:6443", certificate-authority-data: YWJj}
users:
- {name: u, user: {token: t, client-certificate: /x, client-key-data: YWJj}}
)",
          R"({"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k"}}],
              "clusters": [{"name": "k", "cluster": {"server": "http://h",
              "insecure-skip-tls-verify": true}}], "users": []})"};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)taas::ParseKubeconfig(taas::FuzzText(data, size), "/k/config", "");
  return 0;
}
