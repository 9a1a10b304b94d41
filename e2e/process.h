// A program that a test starts, and that never outlives the test.
//
// The kernel kills it when the thread that started it ends (PR_SET_PDEATHSIG), so start it from the
// test's main thread.
//
// Ownership: the object owns the process; destruction kills and reaps it. Threads: one. Errors:
// NotFound if there is no such program, Unavailable otherwise; each names the program.
//
//   ASSIGN_OR_RETURN(auto etcd, Process::Start({.argv = {path}, .log = dir + "/etcd.log"}));
//   ASSIGN_OR_RETURN(const Output out, RunProgram({.argv = {kubectl, "version"}, .log = log}));

#ifndef E2E_PROCESS_H_
#define E2E_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"

namespace taas {

struct ProcessOptions {
  std::vector<std::string> argv;  // The first is a path.
  std::string log;                // A file that gets stdout and stderr.
  std::vector<std::string> env;   // "NAME=value"; nothing is inherited.
};

class Process {
 public:
  static absl::StatusOr<std::unique_ptr<Process>> Start(const ProcessOptions& options);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Exit code, or 128 + signal; nothing while it runs.
  std::optional<int> ExitCode();
  absl::Status Signal(int signal);
  // Waits for the end; DeadlineExceeded if it still runs then.
  absl::StatusOr<int> Wait(Clock::Duration limit);
  pid_t pid() const { return pid_; }

 private:
  Process(pid_t pid, std::string name) : pid_(pid), name_(std::move(name)) {}

  const pid_t pid_;
  const std::string name_;
  std::optional<int> exit_code_;
};

struct ProgramOutput {
  int exit_code = 0;
  std::string text;  // stdout and stderr as they came.
};

// Runs a program to its end; a minute is enough for any that tests run so.
absl::StatusOr<ProgramOutput> RunProgram(const ProcessOptions& options);

}  // namespace taas

#endif  // E2E_PROCESS_H_
