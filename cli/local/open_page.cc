#include "cli/local/open_page.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/api_client.h"
#include "cli/exit_code.h"
#include "cli/job_ref.h"
#include "cli/local/local_session.h"
#include "localkube/cluster/cluster_directory.h"
#include "operator/api/dialect.h"
#include "operator/api/json_field.h"
#include "operator/base/file_system.h"
#include "operator/base/status.h"
#include "operator/kube/api_path.h"
#include "operator/kube/kubeconfig.h"
#include "third_party/json.h"

extern char** environ;

namespace taas {
namespace {

constexpr char kBrowser[] = "xdg-open";

absl::Status Down(const std::string& dir) {
  return absl::NotFoundError("open the page of the cluster in " + dir +
                             ": no cluster with a dashboard runs there; `taas local up --dir " +
                             dir + "` starts one");
}

// "http://127.0.0.1:PORT" of the page.
absl::StatusOr<std::string> PageUrl(FileSystem& disk, const std::string& dir) {
  const absl::StatusOr<bool> running = localkube::IsLocked(localkube::LockPath(dir));
  const std::string port = disk.ReadAll(DashboardPortPath(dir)).value_or("");
  if (!running.ok() || !*running || port.empty()) return Down(dir);
  // Another user's directory is not believed.
  RETURN_IF_ERROR(localkube::CheckClusterDirectory(disk, dir, ::geteuid()));
  return "http://127.0.0.1:" + port;
}

// "/jobs/default/trainingjobs/mnist"
absl::StatusOr<std::string> JobPage(const ClusterAccess& cluster, const OpenOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, ApiClient::Create(cluster));
  const std::string ns = options.ns.empty() ? api->ns() : options.ns;
  ASSIGN_OR_RETURN(const FoundJob found, FindJob(*api, ns, options.job));
  return "/jobs/" + PercentEncode(ns) + "/" + std::string(DialectOf(found.job.kind).plural) + "/" +
         PercentEncode(found.job.meta.name);
}

absl::StatusOr<std::string> AskForCode(const std::string& url, const ClusterAccess& cluster) {
  ASSIGN_OR_RETURN(
      const std::unique_ptr<ApiClient> page,
      ApiClient::Create({.server = url, .token = cluster.token, .source = cluster.source}));
  ASSIGN_OR_RETURN(const std::string body,
                   page->Post("/api/session/codes", "{}", "ask the dashboard for a link"));
  ASSIGN_OR_RETURN(const nlohmann::json answer, ParseJsonObject(body));
  return TextOf(answer, "code");
}

absl::StatusOr<std::string> Address(FileSystem& disk, const OpenOptions& options) {
  ASSIGN_OR_RETURN(const std::string url, PageUrl(disk, options.dir));
  ASSIGN_OR_RETURN(const ClusterAccess cluster,
                   LoadKubeconfig(disk, options.dir + "/kubeconfig", ""));
  std::string path = "/";
  if (!options.job.empty()) {
    ASSIGN_OR_RETURN(path, JobPage(cluster, options));
  }
  ASSIGN_OR_RETURN(const std::string code, AskForCode(url, cluster));
  return url + path + "#code=" + code;
}

bool HasScreen() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

// Starts `program` with one word, apart from this terminal. An error code, as of errno.
int StartApart(const char* program, const std::string& word) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::string name = program;
  std::string argument = word;
  char* const argv[] = {name.data(), argument.data(), nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, program, &files, &attributes, argv, environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error;
}

// Names of namespaces and jobs, of which addresses are made, have none of the characters that HTML
// gives a meaning to.
std::string Redirection(const std::string& address) {
  return "<!doctype html>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"refresh\" content=\"0;url=" + address +
         "\">\n<title>TaaS</title>\n<a href=\"" + address + "\">TaaS</a>\n";
}

absl::Status Browse(FileSystem& disk, const std::string& dir, const std::string& address) {
  if (!HasScreen()) {
    return absl::UnavailableError(
        "start a browser: neither $DISPLAY nor $WAYLAND_DISPLAY names a screen; open the address "
        "yourself");
  }
  const std::string file = dir + "/open.html";
  RETURN_IF_ERROR(disk.WriteAtomically(file, Redirection(address)));
  const int error = StartApart(kBrowser, file);
  if (error == 0) return absl::OkStatus();
  return absl::UnavailableError("start a browser: " +
                                std::string(ErrnoToStatus(error, "run", kBrowser).message()) +
                                "; open the address yourself");
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "taas: %s\n", std::string(status.message()).c_str());
  return ExitCodeOf(status);
}

}  // namespace

int RunOpen(const OpenOptions& options) {
  PosixFileSystem disk;
  const absl::StatusOr<std::string> address = Address(disk, options);
  if (!address.ok()) return Fail(address.status());
  std::printf("%s\n", address->c_str());
  std::fflush(stdout);
  if (!options.browse) return kExitOk;
  // The address is printed, which is what was asked for.
  const absl::Status browsed = Browse(disk, options.dir, *address);
  if (!browsed.ok()) Fail(browsed);
  return kExitOk;
}

}  // namespace taas
