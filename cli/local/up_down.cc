#include "cli/local/up_down.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cli/exit_code.h"
#include "cli/local/local_session.h"
#include "cli/stop_signals.h"
#include "localkube/cluster/cluster_directory.h"
#include "localkube/node/container_run.h"
#include "localkube/node/pod_dirs.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/log.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

using namespace std::chrono_literals;

// For pods to write a checkpoint when their cluster goes down.
constexpr auto kDownGrace = 10s;
// For `taas local` to close its store; it has nothing else to wait for.
constexpr auto kStopPatience = 30s;
// For the kernel to take a process apart that was killed.
constexpr auto kLockPatience = 5s;
constexpr auto kLookEvery = 20ms;

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "taas: %s\n", std::string(status.message()).c_str());
  return kExitFailed;
}

// Whom to stop, and where the dashboard is, is what the directory says: another user's is not
// believed.
absl::Status CheckOwn(FileSystem& disk, const std::string& dir) {
  return localkube::CheckClusterDirectory(disk, dir, ::geteuid());
}

std::string DashboardText(LocalSession& session) {
  if (session.dashboard() == nullptr) return "";
  return "The dashboard, by a link that is good once (`taas open --dir " +
         session.cluster().dir() + "` opens it again):\n\n  " +
         session.dashboard()->OneTimeUrl() + "\n\n";
}

std::string Instructions(LocalSession& session, bool detached) {
  localkube::LocalCluster& cluster = session.cluster();
  const std::string stop =
      detached ? "" : "Ctrl-C stops it; pods that run go on until the next `up`, or end with:\n";
  return "The cluster answers at " + cluster.server().url() + "\n\n  export KUBECONFIG=" +
         cluster.kubeconfig() + "\n  kubectl get nodes\n\n" + DashboardText(session) + stop +
         "  taas local down --dir " + cluster.dir() + "\n";
}

// `ready` gets the text for the terminal once the cluster answers.
absl::Status Serve(UpOptions options, const std::function<void(const std::string&)>& ready) {
  StopSignals signals;
  PosixFileSystem disk;
  const std::string dir = options.cluster.dir;
  const bool ephemeral = options.cluster.ephemeral;
  // Before anything in it is believed.
  RETURN_IF_ERROR(localkube::MakeClusterDirectory(disk, dir));
  const ClusterShape last = LoadLastTime(disk, dir);
  const ClusterShape shape = TakeOver(last, options.given);
  ApplyShape(shape, &options.cluster);
  ASSIGN_OR_RETURN(auto session,
                   LocalSession::Start(std::move(options.cluster), options.dashboard));
  if (!ephemeral) {
    RETURN_IF_ERROR(SaveForNextTime(disk, dir, shape));
  }
  ready(TakenOverText(last, options.given) + Instructions(*session, options.detach));
  signals.Wait();
  if (!ephemeral) return absl::OkStatus();
  RETURN_IF_ERROR(session->EndPods(kDownGrace));
  return session->Remove();
}

// The child goes on in the background; the parent returns when the cluster answers or could not
// start.
int Detach(UpOptions options) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return Fail(ErrnoToStatus(errno, "pipe2", ""));
  PosixFileSystem disk;
  absl::Status made = localkube::MakeClusterDirectory(disk, options.cluster.dir);
  if (made.ok()) made = localkube::MakeLogFile(localkube::LogPath(options.cluster.dir));
  if (!made.ok()) return Fail(made);
  const pid_t pid = ::fork();
  if (pid < 0) return Fail(ErrnoToStatus(errno, "fork", ""));
  if (pid == 0) {
    ::setsid();
    ::close(fds[0]);
    const int null_fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {0, 1, 2}) ::dup2(null_fd, fd);
    SetLogFile(localkube::LogPath(options.cluster.dir));
    const auto tell = [&](const std::string& text) {
      [[maybe_unused]] const ssize_t written = ::write(fds[1], text.data(), text.size());
    };
    const absl::Status status = Serve(std::move(options), [&](const std::string& text) {
      tell("+" + text);
      ::close(std::exchange(fds[1], -1));
    });
    if (!status.ok()) tell("-" + std::string(status.message()));
    ::_exit(status.ok() ? kExitOk : kExitFailed);
  }
  ::close(fds[1]);
  std::string text;
  char buffer[1024];
  ssize_t got = 0;
  while ((got = ::read(fds[0], buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<size_t>(got));
  ::close(fds[0]);
  if (!text.empty() && text[0] == '+') {
    std::printf("%s", text.c_str() + 1);
    return kExitOk;
  }
  std::fprintf(stderr, "taas: %s\n",
               text.empty() ? "the cluster ended while it started" : text.c_str() + 1);
  return kExitFailed;
}

// A pid is only a number: by now it may be another program's.
absl::Status CheckIsTaas(pid_t pid, const std::string& dir) {
  char text[PATH_MAX];
  const std::string link = "/proc/" + std::to_string(pid) + "/exe";
  const ssize_t size = ::readlink(link.c_str(), text, sizeof text);
  const std::string path(text, size > 0 ? static_cast<size_t>(size) : 0);
  // Behind the name of a program that was replaced the kernel says "(deleted)".
  if (path.substr(path.rfind('/') + 1).rfind("taas", 0) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "stop the cluster in " + dir + ": process " + std::to_string(pid) + " of its file `pid` is " +
      (path.empty() ? "gone or another user's" : path) +
      ", not taas; end the process that holds the file `lock` yourself");
}

// The one that held it may have been killed a moment ago.
absl::StatusOr<int> TakeLockSoon(const std::string& path, const Clock& clock) {
  const Clock::Time deadline = clock.Now() + kLockPatience;
  for (;;) {
    absl::StatusOr<int> lock = localkube::TakeLock(path);
    if (!absl::IsFailedPrecondition(lock.status()) || clock.Now() >= deadline) return lock;
    clock.SleepUntil(clock.Now() + kLookEvery);
  }
}

// Asks the process that holds the lock to end, and makes sure that it does.
absl::Status StopHolder(const std::string& dir, const Clock& clock, FileSystem& disk) {
  const std::string lock = localkube::LockPath(dir);
  ASSIGN_OR_RETURN(const bool running, localkube::IsLocked(lock));
  if (!running) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string text, disk.ReadAll(localkube::PidPath(dir)));
  const pid_t pid = std::atoi(text.c_str());
  if (pid <= 1)
    return absl::UnavailableError("stop the cluster: " + localkube::PidPath(dir) + " holds no pid");
  if (const absl::Status is_taas = CheckIsTaas(pid, dir); !is_taas.ok()) {
    // It may have ended since.
    ASSIGN_OR_RETURN(const bool still, localkube::IsLocked(lock));
    return still ? is_taas : absl::OkStatus();
  }
  ::kill(pid, SIGTERM);
  const Clock::Time deadline = clock.Now() + kStopPatience;
  for (;;) {
    ASSIGN_OR_RETURN(const bool still, localkube::IsLocked(lock));
    if (!still) return absl::OkStatus();
    if (clock.Now() >= deadline) break;
    clock.SleepUntil(clock.Now() + kLookEvery);
  }
  ::kill(pid, SIGKILL);
  Log(LogLevel::kWarning, "taas local did not end and was killed", {{"pid", text}});
  return absl::OkStatus();
}

}  // namespace

int RunUp(UpOptions options) {
  // Threads hand objects to each other: a heap for each of them would keep what the others let go.
  mallopt(M_ARENA_MAX, 2);
  // A list of all pods, a job of a megabyte: what was large goes back to the kernel with its end.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  if (options.detach) return Detach(std::move(options));
  const absl::Status status = Serve(std::move(options), [](const std::string& text) {
    std::printf("%s", text.c_str());
    std::fflush(stdout);
  });
  return status.ok() ? kExitOk : Fail(status);
}

int RunDown(const std::string& dir) {
  RealClock clock;
  PosixFileSystem disk;
  if (!disk.Exists(localkube::LockPath(dir)).value_or(false)) {
    std::fprintf(stderr, "taas: there is no cluster in %s\n", dir.c_str());
    return kExitNotFound;
  }
  if (const absl::Status status = CheckOwn(disk, dir); !status.ok()) return Fail(status);
  if (const absl::Status status = StopHolder(dir, clock, disk); !status.ok()) return Fail(status);
  // An ephemeral cluster has removed itself.
  if (!disk.Exists(localkube::LockPath(dir)).value_or(false)) return kExitOk;
  const absl::StatusOr<int> lock = TakeLockSoon(localkube::LockPath(dir), clock);
  if (!lock.ok()) return Fail(Annotate(lock.status(), "end the pods"));
  const absl::StatusOr<int> ended =
      localkube::EndAllRuns(disk, clock, localkube::PodDirs(dir + "/pods"), kDownGrace);
  ::close(*lock);
  if (!ended.ok()) return Fail(ended.status());
  std::fprintf(stderr, "the cluster in %s is down; %d containers were ended\n", dir.c_str(),
               *ended);
  return kExitOk;
}

int RunStatus(const std::string& dir, bool json) {
  PosixFileSystem disk;
  const std::string lock = localkube::LockPath(dir);
  if (!disk.Exists(lock).value_or(false)) {
    std::fprintf(stderr, "taas: there is no cluster in %s\n", dir.c_str());
    return kExitNotFound;
  }
  if (const absl::Status status = CheckOwn(disk, dir); !status.ok()) return Fail(status);
  const absl::StatusOr<bool> running = localkube::IsLocked(lock);
  if (!running.ok()) return Fail(running.status());
  const localkube::PodDirs dirs(dir + "/pods");
  int containers = 0;
  for (const std::string& uid : dirs.Pods(disk).value_or(std::vector<std::string>())) {
    for (const std::string& name :
         dirs.Containers(disk, uid).value_or(std::vector<std::string>())) {
      const int number = dirs.LatestRun(disk, uid, name).value_or(-1);
      if (number < 0) continue;
      if (localkube::IsLocked(dirs.Run(uid, name, number).lock).value_or(false)) ++containers;
    }
  }
  const std::string pid = disk.ReadAll(localkube::PidPath(dir)).value_or("0");
  const std::string port = disk.ReadAll(dir + "/port").value_or("0");
  const std::string page = disk.ReadAll(DashboardPortPath(dir)).value_or("");
  if (json) {
    const nlohmann::ordered_json out = {
        {"running", *running},
        {"pid", *running ? std::atoi(pid.c_str()) : 0},
        {"server", *running ? "https://127.0.0.1:" + port : ""},
        {"kubeconfig", dir + "/kubeconfig"},
        {"dashboard", *running && !page.empty() ? "http://127.0.0.1:" + page : ""},
        {"runningContainers", containers}};
    std::printf("%s\n", out.dump().c_str());
  } else if (*running) {
    std::printf(
        "running, pid %s, https://127.0.0.1:%s, %d containers\n  export KUBECONFIG=%s/kubeconfig\n",
        pid.c_str(), port.c_str(), containers, dir.c_str());
  } else {
    std::printf("stopped, %d containers run on\n", containers);
  }
  return *running ? kExitOk : kExitFailed;
}

}  // namespace taas
