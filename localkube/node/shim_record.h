// What node and shim write to each other: files in the directory of one container run.
//
// One run of one container is one directory, used once. The node writes `spec.json` and later
// `stop.json`; the shim writes the rest, holds a lock on `lock` as long as it lives and creates
// `started` before it starts anything, so that no run can happen twice whoever was killed when.
//
// Ownership: value types. Threads: const access from any thread. Errors: InvalidArgument for a
// record that is not one of ours, else those of the FileSystem. A state or an exit that cannot be
// read as one counts as not written: the run is then one whose shim was killed.
//
//   const RunFiles files(dir);
//   RETURN_IF_ERROR(WriteSpec(disk, files, spec));
//   ASSIGN_OR_RETURN(const std::optional<ExitRecord> exit, ReadExit(disk, files));

#ifndef LOCALKUBE_NODE_SHIM_RECORD_H_
#define LOCALKUBE_NODE_SHIM_RECORD_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"

namespace taas::localkube {

// The paths of one run.
struct RunFiles {
  explicit RunFiles(std::string run_dir);

  std::string dir;
  std::string spec;             // What to run.
  std::string lock;             // Locked while the shim lives.
  std::string started;          // Exists: this run has been claimed and must not be started again.
  std::string state;            // The process that was started.
  std::string stop;             // Exists: the run is to end.
  std::string exit;             // How it ended.
  std::string log;  // Output, in CRI's format; older parts have ".1", ".2", … behind the name.
  std::string termination_log;  // What the process said at its end.
  std::string shim_log;         // What the shim itself has to say.
};

struct RunMount {
  std::string source;  // On this machine.
  std::string target;  // As the container sees it; absolute.
  bool read_only = false;
};

struct RunSpec {
  std::vector<std::string> argv;
  std::vector<std::string> env;  // "NAME=value"; nothing else reaches the process.
  std::string cwd = "/";
  std::vector<RunMount> mounts;  // Not empty: the process runs in a mount namespace of its own.
  std::chrono::milliseconds grace{30'000};
  // The end of the output stands in for an empty termination log of a run that failed.
  bool message_from_log = false;
  // A file that `taas local` holds locked; the run ends when it no longer does. Empty: outlives it.
  std::string owner_lock;
  // More memory than this ends the run with reason OOMKilled; 0: no limit.
  int64_t memory_bytes_max = 0;
};

struct RunState {
  int64_t pid = 0;  // For people; a pid may have been reused by the time it is read.
  Clock::WallTime started_at{};
};

struct StopRequest {
  std::chrono::milliseconds grace{0};
};

struct ExitRecord {
  int exit_code = 0;   // 128 + n after signal n.
  std::string reason;  // Completed, Error, OOMKilled, StartError, ContainerStatusUnknown.
  std::string message;
  Clock::WallTime started_at{};
  Clock::WallTime finished_at{};
};

// What Kubernetes allows a termination message to have.
inline constexpr size_t kTerminationMessageBytesMax = 4096;
// Six times the argv and environment that a program may have, as JSON may need it, and mounts: a
// file of more is none of ours.
inline constexpr uint64_t kRecordBytesMax = 32 << 20;
// The command could not be started at all; containerd's code for the same.
inline constexpr int kStartErrorCode = 128;
// The shim was killed and nobody saw how the process ended; the kubelet's code for the same.
inline constexpr int kUnknownExitCode = 137;
// Ended by SIGTERM.
inline constexpr int kTerminatedExitCode = 143;

// What a status says, in as many bytes as a termination message may have.
std::string MessageOf(const absl::Status& status);

absl::Status WriteSpec(FileSystem& disk, const RunFiles& files, const RunSpec& spec);
absl::StatusOr<RunSpec> ReadSpec(FileSystem& disk, const RunFiles& files);
absl::Status WriteState(FileSystem& disk, const RunFiles& files, const RunState& state);
absl::StatusOr<std::optional<RunState>> ReadState(FileSystem& disk, const RunFiles& files);
absl::Status WriteStop(FileSystem& disk, const RunFiles& files, const StopRequest& stop);
absl::StatusOr<std::optional<StopRequest>> ReadStop(FileSystem& disk, const RunFiles& files);
absl::Status WriteExit(FileSystem& disk, const RunFiles& files, const ExitRecord& exit);
absl::StatusOr<std::optional<ExitRecord>> ReadExit(FileSystem& disk, const RunFiles& files);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_SHIM_RECORD_H_
