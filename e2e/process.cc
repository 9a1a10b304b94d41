#include "e2e/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "operator/base/file_system.h"
#include "operator/base/status.h"

namespace taas {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Clock::Duration kPollInterval = milliseconds(10);
constexpr Clock::Duration kProgramLimit = seconds(60);

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void Become(char* const* argv, char* const* env, int log, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // The parent ended before the line above.
  ::setpgid(0, 0);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  const int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, STDIN_FILENO);
  ::execve(argv[0], argv, env);
  ::_exit(127);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Process>> Process::Start(const ProcessOptions& options) {
  const std::string& program = options.argv.front();
  if (::access(program.c_str(), X_OK) != 0) return ErrnoToStatus(errno, "execute", program);
  const int log = ::open(options.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (log < 0) return ErrnoToStatus(errno, "open", options.log);
  const std::vector<char*> argv = Pointers(options.argv);
  const std::vector<char*> env = Pointers(options.env);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) Become(argv.data(), env.data(), log, parent);
  const int error = errno;
  ::close(log);
  if (pid < 0) return ErrnoToStatus(error, "fork", program);
  return std::unique_ptr<Process>(new Process(pid, program));
}

Process::~Process() {
  if (ExitCode().has_value()) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);  // It may not have reached its own group yet.
  ::waitpid(pid_, nullptr, 0);
}

std::optional<int> Process::ExitCode() {
  if (exit_code_.has_value()) return exit_code_;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_code_;
}

absl::Status Process::Signal(int signal) {
  if (ExitCode().has_value()) return absl::FailedPreconditionError(name_ + " has ended already");
  if (::kill(pid_, signal) != 0) return ErrnoToStatus(errno, "kill", name_);
  return absl::OkStatus();
}

absl::StatusOr<int> Process::Wait(Clock::Duration limit) {
  const RealClock clock;
  const Clock::Time deadline = clock.Now() + limit;
  while (!ExitCode().has_value()) {
    if (clock.Now() >= deadline) return absl::DeadlineExceededError(name_ + " still runs");
    clock.SleepUntil(clock.Now() + kPollInterval);
  }
  return *exit_code_;
}

absl::StatusOr<ProgramOutput> RunProgram(const ProcessOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Process> process, Process::Start(options));
  ProgramOutput output;
  ASSIGN_OR_RETURN(output.exit_code, process->Wait(kProgramLimit));
  PosixFileSystem files;
  ASSIGN_OR_RETURN(output.text, files.ReadAll(options.log));
  return output;
}

}  // namespace taas
