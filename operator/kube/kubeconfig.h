// Where the API server is and who we are there: from a kubeconfig file, or from inside a pod.
//
// Exec and auth-provider plugins are refused with a sentence: they run programs of the user's
// choice, and tokens do the same without.
//
// Ownership: value types. Threads: any. Errors: NotFound (no file), InvalidArgument; each message
// names the file and the field.
//
//   ASSIGN_OR_RETURN(const ClusterAccess access, LoadKubeconfig(files, path, /*context=*/""));
//   CpprestTransport transport(access, files, executor, {});

#ifndef OPERATOR_KUBE_KUBECONFIG_H_
#define OPERATOR_KUBE_KUBECONFIG_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"

namespace taas {

// Text given in place, or a file that is read again while we run. Both empty: none.
struct TextOrFile {
  std::string text;
  std::string file;
  bool empty() const { return text.empty() && file.empty(); }
};

struct ClusterAccess {
  std::string server;  // "https://10.0.0.1:6443", with a path where the server is behind one.
  TextOrFile ca;       // PEM. Empty: the machine's roots, as a kubeconfig without one means.
  TextOrFile client_certificate;  // PEM, with intermediates.
  TextOrFile client_key;
  TextOrFile token;
  bool insecure_skip_tls_verify = false;
  std::string ns = "default";  // Of the context, for commands that name none.
  std::string source;          // What to name in messages: the file, or "in-cluster".
};

// `path` is named in messages, and relative file names in it are taken from its folder. An empty
// `context` means current-context.
absl::StatusOr<ClusterAccess> ParseKubeconfig(std::string_view yaml, const std::string& path,
                                              const std::string& context);
absl::StatusOr<ClusterAccess> LoadKubeconfig(FileSystem& files, const std::string& path,
                                             const std::string& context);

using Getenv = std::function<std::optional<std::string>(const std::string& name)>;
std::optional<std::string> ProcessEnv(const std::string& name);

// The service account of the pod that we are in. NotFound: this is no pod.
absl::StatusOr<ClusterAccess> LoadInCluster(
    FileSystem& files, const Getenv& env,
    const std::string& dir = "/var/run/secrets/kubernetes.io/serviceaccount");

// `flag` (--kubeconfig) if given, else $KUBECONFIG, else in-cluster credentials, else
// ~/.kube/config.
absl::StatusOr<ClusterAccess> FindClusterAccess(FileSystem& files, const Getenv& env,
                                                const std::string& flag,
                                                const std::string& context);

}  // namespace taas

#endif  // OPERATOR_KUBE_KUBECONFIG_H_
