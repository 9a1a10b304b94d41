#include "localkube/node/container_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include "operator/base/status.h"

namespace taas::localkube {
namespace {

// What of the caller's environment a shim gets; the container gets what its spec says.
std::vector<std::string> ShimEnvironment() {
  std::vector<std::string> out;
  for (const char* name : {"PATH", "HOME", "TMPDIR", "LANG", "ASAN_OPTIONS", "TSAN_OPTIONS"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) out.push_back(std::string(name) + "=" + value);
  }
  return out;
}

// Runs in a copy of a process with threads: system calls only.
[[noreturn]] void BecomeShim(const char* program, char* const* argv, char* const* env,
                             int error_fd) {
  ::setsid();
  const pid_t pid = ::fork();
  if (pid != 0) {
    const int error = pid < 0 ? errno : 0;
    if (error != 0) {
      [[maybe_unused]] const ssize_t written = ::write(error_fd, &error, sizeof error);
    }
    ::_exit(0);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGPIPE}) ::signal(signal, SIG_DFL);
  const int null_fd = ::open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) ::dup2(null_fd, fd);
  ::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
  [[maybe_unused]] const int moved = ::chdir("/");
  ::execve(program, argv, env);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(error_fd, &error, sizeof error);
  ::_exit(1);
}

}  // namespace

absl::Status StartRun(const std::string& program, const RunFiles& files) {
  const std::vector<std::string> environment = ShimEnvironment();
  std::vector<char*> env;
  for (const std::string& text : environment) env.push_back(const_cast<char*>(text.c_str()));
  env.push_back(nullptr);
  char verb[] = "shim";
  char* const argv[] = {const_cast<char*>(program.c_str()), verb,
                        const_cast<char*>(files.dir.c_str()), nullptr};
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return ErrnoToStatus(errno, "pipe2", "");
  const pid_t pid = ::fork();
  if (pid == 0) BecomeShim(program.c_str(), argv, env.data(), fds[1]);
  const int fork_error = errno;
  ::close(fds[1]);
  int error = 0;
  if (pid < 0) {
    error = fork_error;
  } else {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    // Ends without data when the shim was executed.
    ssize_t got = 0;
    while ((got = ::read(fds[0], &error, sizeof error)) < 0 && errno == EINTR) {
    }
    if (got != sizeof error) error = 0;
  }
  ::close(fds[0]);
  if (error != 0) return ErrnoToStatus(error, "start the shim of " + files.dir, program);
  return absl::OkStatus();
}

absl::StatusOr<bool> IsLocked(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) return false;
    return ErrnoToStatus(errno, "open", path);
  }
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const int result = ::fcntl(fd, F_OFD_GETLK, &lock);
  const int error = errno;
  ::close(fd);
  if (result != 0) return ErrnoToStatus(error, "read the lock of", path);
  return lock.l_type != F_UNLCK;
}

absl::StatusOr<int> TakeLock(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return ErrnoToStatus(errno, "open", path);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool locked = ::fcntl(fd, F_OFD_SETLK, &lock) == 0;
  const int error = errno;
  struct stat info {};
  if (locked && ::fstat(fd, &info) == 0 && info.st_nlink > 0) return fd;
  ::close(fd);
  if (locked) {
    return absl::FailedPreconditionError("lock " + path + ": it was removed at this moment");
  }
  if (error == EAGAIN || error == EACCES) {
    return absl::FailedPreconditionError("lock " + path + ": another process holds it");
  }
  return ErrnoToStatus(error, "lock", path);
}

absl::StatusOr<RunStatus> LookAtRun(FileSystem& disk, const RunFiles& files) {
  // In this order, because a shim takes the lock, then creates `started`, and writes its record
  // before it lets go of the lock: who is `started` and has no lock has ended.
  ASSIGN_OR_RETURN(const bool started, disk.Exists(files.started));
  ASSIGN_OR_RETURN(const bool alive, IsLocked(files.lock));
  RunStatus run;
  ASSIGN_OR_RETURN(run.exit, ReadExit(disk, files));
  ASSIGN_OR_RETURN(run.state, ReadState(disk, files));
  if (run.exit.has_value() || (started && !alive)) {
    run.phase = RunPhase::kEnded;
  } else if (alive) {
    run.phase = run.state.has_value() ? RunPhase::kRunning : RunPhase::kStarting;
  }
  return run;
}

absl::StatusOr<RunStatus> ReadRun(FileSystem& disk, const RunFiles& files) {
  ASSIGN_OR_RETURN(RunStatus run, LookAtRun(disk, files));
  if (run.phase != RunPhase::kEnded || run.exit.has_value()) return run;
  KillLeftovers(disk, files.dir);
  ExitRecord exit;
  exit.exit_code = kUnknownExitCode;
  exit.reason = "ContainerStatusUnknown";
  exit.message = "the process that watched this container was killed";
  exit.started_at = run.state.has_value() ? run.state->started_at : Clock::WallTime{};
  exit.finished_at = exit.started_at;
  RETURN_IF_ERROR(WriteExit(disk, files, exit));
  run.exit = exit;
  return run;
}

absl::Status RetireRun(FileSystem& disk, const RunFiles& files) {
  ASSIGN_OR_RETURN(const int lock, TakeLock(files.lock));
  // A shim that comes while the directory is being removed may claim the run again, and then has
  // nothing to start.
  absl::Status status = disk.Remove(files.spec);
  if (status.ok()) status = disk.OpenWrite(files.started).status();
  ::close(lock);
  return status;
}

int KillLeftovers(FileSystem& disk, const std::string& dir) {
  const std::string variable = std::string(kRunDirVariable) + "=" + dir;
  const absl::StatusOr<std::vector<std::string>> names = disk.List("/proc");
  if (!names.ok()) return 0;
  int killed = 0;
  for (const std::string& name : *names) {
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string environment = disk.ReadAll("/proc/" + name + "/environ").value_or("");
    for (size_t begin = 0; begin < environment.size();) {
      const std::string_view entry(environment.c_str() + begin);
      begin += entry.size() + 1;
      if (entry.rfind(variable, 0) != 0) continue;
      if (entry.size() > variable.size() && entry[variable.size()] != '/') continue;
      if (::kill(std::atoi(name.c_str()), SIGKILL) == 0) ++killed;
      break;
    }
  }
  return killed;
}

}  // namespace taas::localkube
