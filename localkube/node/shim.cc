#include "localkube/node/shim.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "localkube/node/container_log.h"
#include "localkube/node/memory_use.h"
#include "localkube/node/regular_file.h"
#include "localkube/node/sandbox.h"
#include "localkube/node/shim_record.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

using namespace std::chrono_literals;

// How often a shim of an ephemeral cluster looks whether `taas local` still lives.
constexpr auto kOwnerCheckEvery = 500ms;
// Where the kernel does not tell of a stop.
constexpr auto kStopCheckEvery = 200ms;
// How often SIGTERM is repeated while the process has not made its session yet.
constexpr auto kTermRetryEvery = 20ms;
// What `kubectl describe` shows of the output of a run that failed; the kubelet's limits.
constexpr size_t kFallbackMessageLines = 80;
constexpr size_t kFallbackMessageBytes = 2048;
constexpr size_t kReadBytes = 64 << 10;
// How often the memory of a container with a limit is looked at: what it can take between two looks
// is what a limit here may be exceeded by.
constexpr auto kMemoryCheckEvery = 100ms;
constexpr char kOutOfMemory[] = "OOMKilled";
// A disk that is full when a training ends may have room again when its last checkpoint has
// replaced an older one; a pod that waits longer for that is in the way.
constexpr auto kRecordPatience = 30s;
constexpr auto kRecordRetryEvery = 500ms;

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { Reset(); }
  void Reset() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read;
  Fd write;
};

absl::StatusOr<Pipe> MakePipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return ErrnoToStatus(errno, "pipe2", "");
  return Pipe{Fd(fds[0]), Fd(fds[1])};
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// The program that `argv0` means for the process: by path, or by its own PATH.
absl::StatusOr<std::string> FindProgram(const RunSpec& spec) {
  const std::string& name = spec.argv[0];
  const auto in_mount = std::any_of(spec.mounts.begin(), spec.mounts.end(), [&](const auto& mount) {
    return name.rfind(mount.target + "/", 0) == 0;
  });
  if (in_mount) return name;  // Seen by the process only.
  if (name.find('/') != std::string::npos) {
    const std::string path = name[0] == '/' ? name : spec.cwd + "/" + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
    return ErrnoToStatus(errno, "start", path);
  }
  for (const std::string& variable : spec.env) {
    if (variable.rfind("PATH=", 0) != 0) continue;
    for (size_t begin = 5; begin < variable.size();) {
      const size_t end = std::min(variable.find(':', begin), variable.size());
      const std::string path = variable.substr(begin, end - begin) + "/" + name;
      if (::access(path.c_str(), X_OK) == 0) return path;
      begin = end + 1;
    }
  }
  return absl::NotFoundError("start " + name + ": no such program in PATH");
}

// The processes whose parent is this one: what the container left behind, adopted by its subreaper.
std::vector<pid_t> Children(FileSystem& disk) {
  const std::string self = std::to_string(::getpid());
  const std::string text =
      disk.ReadAll("/proc/" + self + "/task/" + self + "/children").value_or("");
  std::vector<pid_t> out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const int pid = std::atoi(text.substr(begin, end - begin).c_str());
    if (pid > 0) out.push_back(pid);
    begin = end + 1;
  }
  return out;
}

class Shim {
 public:
  Shim(const std::string& dir, FileSystem& disk) : files_(dir), disk_(disk) {}
  absl::Status Run();

 private:
  absl::StatusOr<bool> Claim();
  absl::Status RunClaimed(ExitRecord* exit);
  absl::Status WriteExitAtLast(const ExitRecord& exit);
  absl::Status WatchSignalsAndStop();
  absl::Status Start();
  [[noreturn]] void Exec(const std::vector<std::string>& argv, const std::string& program,
                         int error_fd);
  void ReadSandboxPid(Pipe info);
  int Supervise();
  int TimeoutMilliseconds() const;
  void OnSignals();
  void OnTimers();
  void LookForStop();
  void Kill();
  void CheckMemory();
  void Stop(Clock::Duration grace);
  void SignalGroup(int signal);
  void Reap();
  void EndDescendants();
  bool Copy(LogStream stream, Fd* fd);
  bool OwnerIsGone() const;
  std::string TerminationMessage(int exit_code);

  const RunFiles files_;
  FileSystem& disk_;
  RealClock clock_;
  RunSpec spec_;
  Fd lock_;
  Fd signals_;
  Fd inotify_;
  Fd stdout_;
  Fd stderr_;
  std::optional<ContainerLog> log_;
  pid_t main_pid_ = 0;   // What we wait for: the process, or bubblewrap above it.
  pid_t group_ = 0;      // The process group that signals go to.
  std::optional<int> exit_code_;
  bool term_pending_ = false;  // SIGTERM has not reached the group yet.
  std::optional<Clock::Time> kill_at_;
  bool watched_ = false;  // inotify_ tells of a stop.
  Clock::Time stop_check_at_{};
  Clock::Time owner_check_at_{};
  Clock::Time memory_check_at_{};
  bool out_of_memory_ = false;
};

// Only one shim ever gets true for a directory, whoever was killed when.
absl::StatusOr<bool> Shim::Claim() {
  lock_ = Fd(::open(files_.lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock_.get() < 0) return ErrnoToStatus(errno, "open", files_.lock);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(lock_.get(), F_OFD_SETLK, &lock) != 0) {
    if (errno == EAGAIN || errno == EACCES) return false;
    return ErrnoToStatus(errno, "lock", files_.lock);
  }
  // The pod's directory was removed since the file was opened.
  struct stat info {};
  if (::fstat(lock_.get(), &info) != 0) return ErrnoToStatus(errno, "fstat", files_.lock);
  if (info.st_nlink == 0) return false;
  const Fd started(::open(files_.started.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (started.get() < 0) {
    if (errno == EEXIST) return false;
    return ErrnoToStatus(errno, "create", files_.started);
  }
  if (::fsync(started.get()) != 0) return ErrnoToStatus(errno, "fsync", files_.started);
  RETURN_IF_ERROR(disk_.SyncDir(files_.dir));
  return true;
}

absl::Status Shim::Run() {
  ASSIGN_OR_RETURN(const bool claimed, Claim());
  if (!claimed) return absl::OkStatus();
  ExitRecord exit;
  exit.started_at = clock_.WallNow();
  if (const absl::Status status = RunClaimed(&exit); !status.ok()) {
    exit.exit_code = kStartErrorCode;
    exit.reason = "StartError";
    exit.message = MessageOf(status);
  }
  exit.finished_at = clock_.WallNow();
  return WriteExitAtLast(exit);
}

// Without its record a run that succeeded would count as one that was lost.
absl::Status Shim::WriteExitAtLast(const ExitRecord& exit) {
  const Clock::Time deadline = clock_.Now() + kRecordPatience;
  absl::Status written = WriteExit(disk_, files_, exit);
  // Where its directory is gone nobody asks for it any more.
  while (!written.ok() && !absl::IsNotFound(written) && clock_.Now() < deadline) {
    clock_.SleepUntil(clock_.Now() + kRecordRetryEvery);
    written = WriteExit(disk_, files_, exit);
  }
  return written;
}

absl::Status Shim::RunClaimed(ExitRecord* exit) {
  ASSIGN_OR_RETURN(spec_, ReadSpec(disk_, files_));
  log_.emplace(disk_, clock_, ContainerLog::Options{.path = files_.log});
  RETURN_IF_ERROR(WatchSignalsAndStop());
  ASSIGN_OR_RETURN(const std::optional<StopRequest> stop, ReadStop(disk_, files_));
  if (stop.has_value()) {
    exit->exit_code = kTerminatedExitCode;
    exit->reason = "Error";
    exit->message = "stopped before it was started";
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(Start());
  exit->started_at = clock_.WallNow();
  if (const absl::Status written =
          WriteState(disk_, files_, {.pid = main_pid_, .started_at = exit->started_at});
      !written.ok()) {
    EndDescendants();
    return written;
  }
  exit->exit_code = Supervise();
  exit->reason = out_of_memory_         ? kOutOfMemory
                 : exit->exit_code == 0 ? "Completed"
                                        : "Error";
  exit->message = TerminationMessage(exit->exit_code);
  return absl::OkStatus();
}

absl::Status Shim::WatchSignalsAndStop() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return ErrnoToStatus(errno, "prctl", "subreaper");
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGPIPE}) ::sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (signals_.get() < 0) return ErrnoToStatus(errno, "signalfd", "");
  // A user has 128 instances, and other programs may have all: then we look from time to time.
  inotify_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  watched_ = inotify_.get() >= 0 &&
             ::inotify_add_watch(inotify_.get(), files_.dir.c_str(), IN_MOVED_TO) >= 0;
  return absl::OkStatus();
}

absl::Status Shim::Start() {
  const bool sandboxed = !spec_.mounts.empty();
  ASSIGN_OR_RETURN(std::string program, FindProgram(spec_));
  ASSIGN_OR_RETURN(Pipe out, MakePipe());
  ASSIGN_OR_RETURN(Pipe err, MakePipe());
  ASSIGN_OR_RETURN(Pipe failure, MakePipe());
  Pipe info;
  std::vector<std::string> argv = spec_.argv;
  if (sandboxed) {
    ASSIGN_OR_RETURN(info, MakePipe());
    ASSIGN_OR_RETURN(argv, SandboxCommand(spec_, info.write.get()));
    program = kBubblewrap;
  }
  const pid_t shim = ::getpid();
  main_pid_ = ::fork();
  if (main_pid_ < 0) return ErrnoToStatus(errno, "fork", "");
  if (main_pid_ == 0) {
    ::setpgid(0, 0);
    // A shim that is killed takes its container along: two runs at once are worse than none.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != shim) ::_exit(1);
    if (sandboxed) ::fcntl(info.write.get(), F_SETFD, 0);
    ::dup2(out.write.get(), STDOUT_FILENO);
    ::dup2(err.write.get(), STDERR_FILENO);
    Exec(argv, program, failure.write.get());
  }
  ::setpgid(main_pid_, main_pid_);
  group_ = main_pid_;
  failure.write.Reset();
  int error = 0;
  if (::read(failure.read.get(), &error, sizeof error) == sizeof error) {
    ::waitpid(main_pid_, nullptr, 0);
    return ErrnoToStatus(error, "start", program);
  }
  stdout_ = std::move(out.read);
  stderr_ = std::move(err.read);
  if (sandboxed) ReadSandboxPid(std::move(info));
  return absl::OkStatus();
}

void Shim::Exec(const std::vector<std::string>& argv, const std::string& program, int error_fd) {
  const int null_fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(null_fd, STDIN_FILENO);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const std::vector<char*> arguments = Pointers(argv);
  const std::vector<char*> environment = Pointers(spec_.env);
  int error = 0;
  // Below bubblewrap the working directory may exist for the process only.
  if (spec_.mounts.empty() && ::chdir(spec_.cwd.c_str()) != 0) {
    error = errno;
  } else {
    ::execve(program.c_str(), arguments.data(), environment.data());
    error = errno;
  }
  [[maybe_unused]] const ssize_t written = ::write(error_fd, &error, sizeof error);
  ::_exit(1);
}

// Bubblewrap writes {"child-pid": N}: the first process of the namespace, whose session is the
// container's.
void Shim::ReadSandboxPid(Pipe info) {
  info.write.Reset();
  std::string text;
  std::array<char, 256> buffer;
  ssize_t got = 0;
  while ((got = ::read(info.read.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<size_t>(got));
    if (text.find('}') != std::string::npos) break;
  }
  const size_t at = text.find("\"child-pid\":");
  if (at != std::string::npos)
    group_ = std::atoi(text.c_str() + at + std::strlen("\"child-pid\":"));
}

// Returns the exit code. Nothing that the container started is left when it returns.
int Shim::Supervise() {
  // A stop that came before the watch on the directory was seen by RunClaimed, later ones wake us.
  bool reading[2] = {true, true};
  while (!exit_code_.has_value()) {
    std::array<pollfd, 4> fds = {{{signals_.get(), POLLIN, 0},
                                  {inotify_.get(), POLLIN, 0},
                                  {reading[0] ? stdout_.get() : -1, POLLIN, 0},
                                  {reading[1] ? stderr_.get() : -1, POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), TimeoutMilliseconds());
    if (fds[2].revents != 0) reading[0] = Copy(LogStream::kStdout, &stdout_);
    if (fds[3].revents != 0) reading[1] = Copy(LogStream::kStderr, &stderr_);
    if (fds[0].revents != 0) OnSignals();
    if (fds[1].revents != 0) {
      std::array<char, 4096> events;
      while (::read(inotify_.get(), events.data(), events.size()) > 0) {
      }
      LookForStop();
    }
    OnTimers();
  }
  EndDescendants();
  // Nobody holds the other ends any more, so both streams have an end.
  while (Copy(LogStream::kStdout, &stdout_)) {
  }
  while (Copy(LogStream::kStderr, &stderr_)) {
  }
  if (const absl::Status status = log_->Finish(); !status.ok()) {
    Log(LogLevel::kWarning, "output lost", {{"cause", std::string(status.message())}});
  }
  return *exit_code_;
}

void Shim::LookForStop() {
  const auto stop = ReadStop(disk_, files_);
  if (stop.ok() && stop->has_value()) Stop((*stop)->grace);
}

int Shim::TimeoutMilliseconds() const {
  std::optional<Clock::Duration> wait;
  const auto consider = [&](Clock::Duration d) {
    wait = wait.has_value() ? std::min(*wait, d) : d;
  };
  if (term_pending_) consider(kTermRetryEvery);
  if (kill_at_.has_value()) consider(*kill_at_ - clock_.Now());
  if (!watched_) consider(stop_check_at_ - clock_.Now());
  if (!spec_.owner_lock.empty()) consider(owner_check_at_ - clock_.Now());
  if (spec_.memory_bytes_max > 0) consider(memory_check_at_ - clock_.Now());
  if (!wait.has_value()) return -1;
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(*wait).count();
  return static_cast<int>(std::clamp<int64_t>(ms, 0, INT_MAX));
}

void Shim::OnSignals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGCHLD) Reap();
    if (info.ssi_signo == SIGTERM) Stop(spec_.grace);
  }
}

void Shim::OnTimers() {
  if (exit_code_.has_value()) return;
  if (term_pending_) SignalGroup(SIGTERM);
  if (kill_at_.has_value() && clock_.Now() >= *kill_at_) {
    Kill();
    kill_at_.reset();
  }
  CheckMemory();
  if (!watched_ && clock_.Now() >= stop_check_at_) {
    stop_check_at_ = clock_.Now() + kStopCheckEvery;
    LookForStop();
  }
  if (!spec_.owner_lock.empty() && clock_.Now() >= owner_check_at_) {
    owner_check_at_ = clock_.Now() + kOwnerCheckEvery;
    if (OwnerIsGone()) Stop(0ms);
  }
}

void Shim::Kill() {
  SignalGroup(SIGKILL);
  // Until bubblewrap has said more, its end is the end of its namespace.
  ::kill(main_pid_, SIGKILL);
}

// What the kernel does to a container above its memory limit, without the right to make a cgroup.
void Shim::CheckMemory() {
  if (spec_.memory_bytes_max <= 0 || clock_.Now() < memory_check_at_) return;
  memory_check_at_ = clock_.Now() + kMemoryCheckEvery;
  if (MemoryUse(disk_, main_pid_, spec_.memory_bytes_max) <= spec_.memory_bytes_max) return;
  out_of_memory_ = true;
  Kill();
}

// The first request sends SIGTERM; a later one may only bring the end closer.
void Shim::Stop(Clock::Duration grace) {
  const Clock::Time at = clock_.Now() + grace;
  if (kill_at_.has_value()) {
    kill_at_ = std::min(*kill_at_, at);
    return;
  }
  kill_at_ = at;
  SignalGroup(SIGTERM);
}

void Shim::SignalGroup(int signal) {
  const bool failed = ::kill(-group_, signal) != 0;
  if (signal == SIGTERM) term_pending_ = failed && errno == ESRCH;
}

void Shim::Reap() {
  int status = 0;
  pid_t pid = 0;
  while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
    if (pid != main_pid_) continue;
    exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
}

// Kills the group and whatever left it: orphans become our children because we are their subreaper.
void Shim::EndDescendants() {
  ::kill(-group_, SIGKILL);
  // Ends: each round kills all children there are, and a killed process starts no others.
  for (;;) {
    for (const pid_t pid : Children(disk_)) ::kill(pid, SIGKILL);
    if (::waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) return;
  }
}

// False at the end of the stream.
bool Shim::Copy(LogStream stream, Fd* fd) {
  std::array<char, kReadBytes> buffer;
  const ssize_t got = ::read(fd->get(), buffer.data(), buffer.size());
  if (got <= 0) return got < 0 && errno == EINTR;
  const absl::Status status = log_->Append(stream, {buffer.data(), static_cast<size_t>(got)});
  if (!status.ok()) {
    Log(LogLevel::kWarning, "output lost", {{"cause", std::string(status.message())}});
  }
  return true;
}

// True if nobody holds the owner's lock: `taas local` was killed.
bool Shim::OwnerIsGone() const {
  const Fd file(::open(spec_.owner_lock.c_str(), O_RDWR | O_CLOEXEC));
  if (file.get() < 0) return errno == ENOENT;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

std::string Shim::TerminationMessage(int exit_code) {
  std::string text = ReadEnd(files_.termination_log, kTerminationMessageBytesMax).text;
  if (text.empty() && spec_.message_from_log && exit_code != 0) {
    text = LogTail(files_.log, kFallbackMessageLines, kFallbackMessageBytes);
  }
  return text;
}

}  // namespace

int RunShim(const std::string& dir) {
  PosixFileSystem disk;
  return RunShim(dir, disk);
}

int RunShim(const std::string& dir, FileSystem& disk) {
  SetLogFile(RunFiles(dir).shim_log);
  Shim shim(dir, disk);
  const absl::Status status = shim.Run();
  if (status.ok()) return 0;
  Log(LogLevel::kError, "shim failed", {{"dir", dir}, {"cause", std::string(status.message())}});
  return 1;
}

}  // namespace taas::localkube
