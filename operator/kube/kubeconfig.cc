#include "operator/kube/kubeconfig.h"

#include <cstdlib>
#include <utility>

#include "operator/base/bounded_file.h"
#include "operator/base/status.h"
#include "yaml-cpp/yaml.h"

namespace taas {
namespace {

// A cluster with its user, certificates and all, takes some 6 kB: there is room for 1,000 of them.
constexpr size_t kKubeconfigBytesMax = 8 << 20;

// Where a file name in a kubeconfig is taken from.
std::string Beside(const std::string& path, const std::string& file) {
  if (file.empty() || file[0] == '/') return file;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? file : path.substr(0, slash + 1) + file;
}

int Base64Digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, text.find_last_not_of("=\n\r ") + 1)) {
    if (c == '\n' || c == '\r' || c == ' ') continue;
    const int digit = Base64Digit(c);
    if (digit < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if ((count += 6) >= 8) out += static_cast<char>(bits >> (count -= 8) & 0xFF);
  }
  return out;
}

// One file while it is read. Every message names it.
class Reader {
 public:
  Reader(std::string path, YAML::Node root) : path_(std::move(path)), root_(std::move(root)) {}

  absl::Status Error(const std::string& field, const std::string& what) const {
    return absl::InvalidArgumentError("read kubeconfig " + path_ + ": " + field + ": " + what);
  }

  // "" where the field is missing.
  static std::string Text(const YAML::Node& node, const char* field) {
    const YAML::Node value = node.IsMap() ? node[field] : YAML::Node();
    return value && value.IsScalar() ? value.Scalar() : "";
  }

  // The entry `name` of the list `list` ("clusters"), under its inner key ("cluster").
  absl::StatusOr<YAML::Node> Entry(const char* list, const char* inner,
                                   const std::string& name) const {
    const YAML::Node entries = root_[list];
    if (entries && entries.IsSequence()) {
      for (const YAML::Node& entry : entries) {
        if (Text(entry, "name") != name) continue;
        const YAML::Node node = entry[inner];
        return node && node.IsMap() ? node : YAML::Node(YAML::NodeType::Map);
      }
    }
    return Error(list, "there is no entry named \"" + name + "\"");
  }

  absl::StatusOr<ClusterAccess> Access(std::string context_name) const {
    if (context_name.empty()) context_name = Text(root_, "current-context");
    if (context_name.empty()) {
      return Error("current-context",
                   "is not set; set it with `kubectl config use-context`, or name a context");
    }
    ASSIGN_OR_RETURN(const YAML::Node context, Entry("contexts", "context", context_name));
    const std::string at = "contexts[" + context_name + "].context.";
    const std::string cluster_name = Text(context, "cluster");
    if (cluster_name.empty()) return Error(at + "cluster", "is missing");
    ClusterAccess access;
    access.source = path_;
    if (const std::string ns = Text(context, "namespace"); !ns.empty()) access.ns = ns;
    ASSIGN_OR_RETURN(const YAML::Node cluster, Entry("clusters", "cluster", cluster_name));
    RETURN_IF_ERROR(ReadCluster(cluster, "clusters[" + cluster_name + "].cluster.", &access));
    const std::string user_name = Text(context, "user");
    if (user_name.empty()) return access;
    ASSIGN_OR_RETURN(const YAML::Node user, Entry("users", "user", user_name));
    RETURN_IF_ERROR(ReadUser(user, "users[" + user_name + "].user.", &access));
    return access;
  }

 private:
  absl::Status ReadCluster(const YAML::Node& cluster, const std::string& at,
                           ClusterAccess* access) const {
    access->server = Text(cluster, "server");
    while (!access->server.empty() && access->server.back() == '/') access->server.pop_back();
    if (access->server.rfind("https://", 0) != 0 && access->server.rfind("http://", 0) != 0) {
      return Error(at + "server",
                   "\"" + access->server + "\" is no URL that starts with https:// or http://");
    }
    RETURN_IF_ERROR(TakeData(cluster, "certificate-authority", at, &access->ca));
    access->insecure_skip_tls_verify = Text(cluster, "insecure-skip-tls-verify") == "true";
    for (const char* field : {"tls-server-name", "proxy-url"}) {
      if (!Text(cluster, field).empty()) {
        return Error(at + field, "is not supported; use a server address that needs none");
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadUser(const YAML::Node& user, const std::string& at,
                        ClusterAccess* access) const {
    for (const char* field : {"exec", "auth-provider"}) {
      if (user[field]) {
        return Error(at + field,
                     "runs a program of its own to log in, which is not supported; use a token, "
                     "for example of `kubectl create token`, or a client certificate");
      }
    }
    for (const char* field : {"username", "password", "as"}) {
      if (!Text(user, field).empty()) {
        return Error(at + field, "is not supported; use a token or a client certificate");
      }
    }
    access->token.text = Text(user, "token");
    // As client-go: the file, which rotates, comes before the text.
    if (const std::string file = Text(user, "tokenFile"); !file.empty()) {
      access->token = {.file = Beside(path_, file)};
    }
    RETURN_IF_ERROR(TakeData(user, "client-certificate", at, &access->client_certificate));
    RETURN_IF_ERROR(TakeData(user, "client-key", at, &access->client_key));
    if (access->client_certificate.empty() != access->client_key.empty()) {
      return Error(at + "client-certificate", "and client-key must be given together");
    }
    return absl::OkStatus();
  }

  // FIELD-data in base64, which comes first, or FIELD as a file name.
  absl::Status TakeData(const YAML::Node& node, const std::string& field, const std::string& at,
                        TextOrFile* out) const {
    const std::string data = Text(node, (field + "-data").c_str());
    if (data.empty()) {
      out->file = Beside(path_, Text(node, field.c_str()));
      return absl::OkStatus();
    }
    const std::optional<std::string> text = DecodeBase64(data);
    if (!text.has_value() || text->empty()) return Error(at + field + "-data", "is not base64");
    out->text = *text;
    return absl::OkStatus();
  }

  const std::string path_;
  const YAML::Node root_;
};

}  // namespace

absl::StatusOr<ClusterAccess> ParseKubeconfig(std::string_view yaml, const std::string& path,
                                              const std::string& context) {
  try {
    const YAML::Node root = YAML::Load(std::string(yaml));
    if (!root.IsMap()) {
      return absl::InvalidArgumentError("read kubeconfig " + path + ": it is no YAML mapping");
    }
    return Reader(path, root).Access(context);
  } catch (const YAML::Exception& e) {
    return absl::InvalidArgumentError("read kubeconfig " + path + ": invalid YAML: " + e.what());
  }
}

absl::StatusOr<ClusterAccess> LoadKubeconfig(FileSystem& files, const std::string& path,
                                             const std::string& context) {
  absl::StatusOr<std::string> text = ReadBounded(files, path, kKubeconfigBytesMax);
  if (!text.ok()) return Annotate(text.status(), "read kubeconfig");
  return ParseKubeconfig(*text, path, context);
}

std::optional<std::string> ProcessEnv(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

absl::StatusOr<ClusterAccess> LoadInCluster(FileSystem& files, const Getenv& env,
                                            const std::string& dir) {
  const std::optional<std::string> host = env("KUBERNETES_SERVICE_HOST");
  const std::optional<std::string> port = env("KUBERNETES_SERVICE_PORT");
  if (!host.has_value() || !port.has_value()) {
    return absl::NotFoundError("KUBERNETES_SERVICE_HOST is not set: this is no pod");
  }
  ClusterAccess access;
  const bool v6 = host->find(':') != std::string::npos;
  access.server = "https://" + (v6 ? "[" + *host + "]" : *host) + ":" + *port;
  access.ca.file = dir + "/ca.crt";
  access.token.file = dir + "/token";
  access.source = "in-cluster";
  absl::StatusOr<std::string> ns = ReadBounded(files, dir + "/namespace", kKubeconfigBytesMax);
  if (ns.ok() && !ns->empty()) access.ns = *std::move(ns);
  return access;
}

absl::StatusOr<ClusterAccess> FindClusterAccess(FileSystem& files, const Getenv& env,
                                                const std::string& flag,
                                                const std::string& context) {
  if (!flag.empty()) return LoadKubeconfig(files, flag, context);
  if (const std::optional<std::string> path = env("KUBECONFIG"); path.has_value()) {
    if (path->find(':') != std::string::npos) {
      return absl::InvalidArgumentError("KUBECONFIG=" + *path +
                                        ": a list of files is not supported; name one file");
    }
    return LoadKubeconfig(files, *path, context);
  }
  absl::StatusOr<ClusterAccess> in_cluster = LoadInCluster(files, env);
  if (in_cluster.ok()) return in_cluster;
  const std::optional<std::string> home = env("HOME");
  const std::string path = home.value_or("") + "/.kube/config";
  const absl::StatusOr<bool> exists = files.Exists(path);
  if (!home.has_value() || !exists.ok() || !*exists) {
    return absl::NotFoundError("no cluster: neither --kubeconfig nor $KUBECONFIG is given and " +
                               path +
                               " does not exist; `taas local up --dir D` makes a local cluster");
  }
  return LoadKubeconfig(files, path, context);
}

}  // namespace taas
