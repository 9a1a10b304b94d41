// One run of a container as the node sees it: starts its shim, reads its state, asks it to end.
//
// Liveness is the lock that the shim holds, never a pid: pids are reused, locks end with their
// holder. All calls may be repeated; a run that was started once is never started again
// (shim_record.h).
//
// Ownership: none; everything is on disk. Threads: any. Errors: those of the FileSystem;
// Unavailable if no process could be made.
//
//   RETURN_IF_ERROR(StartRun({.program = self, .files = files}));
//   ASSIGN_OR_RETURN(const RunStatus run, ReadRun(disk, files));
//   if (run.phase == RunPhase::kEnded) Report(*run.exit);

#ifndef LOCALKUBE_NODE_CONTAINER_RUN_H_
#define LOCALKUBE_NODE_CONTAINER_RUN_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "localkube/node/shim_record.h"
#include "operator/base/file_system.h"

namespace taas::localkube {

enum class RunPhase {
  kNew,       // No shim has claimed it: start one.
  kStarting,  // Claimed, the process does not run yet.
  kRunning,
  kEnded,
};

struct RunStatus {
  RunPhase phase = RunPhase::kNew;
  std::optional<RunState> state;
  std::optional<ExitRecord> exit;  // Always there for kEnded that ReadRun tells.
};

// Starts `program shim DIR` in a session of its own and returns when it has been executed, not when
// the container runs.
absl::Status StartRun(const std::string& program, const RunFiles& files);

// As ReadRun, but only looks: it writes nothing and kills nothing, so it may be called from any
// thread and while the directory is being removed. A run whose directory is gone is kNew; one whose
// shim was killed is kEnded, and has no record until ReadRun writes it.
absl::StatusOr<RunStatus> LookAtRun(FileSystem& disk, const RunFiles& files);

// A run whose shim was killed is kEnded with reason ContainerStatusUnknown; what it left behind is
// killed and the record written first.
absl::StatusOr<RunStatus> ReadRun(FileSystem& disk, const RunFiles& files);

// Makes sure that no shim starts this run from now on, even while its directory is being removed.
// FailedPrecondition: a shim is at work on it.
absl::Status RetireRun(FileSystem& disk, const RunFiles& files);

// True while some process holds a lock on `path`.
absl::StatusOr<bool> IsLocked(const std::string& path);

// Takes the lock on `path` for as long as the descriptor is open. FailedPrecondition: someone else
// has it, or the file was removed by the one who had it; worth another try.
absl::StatusOr<int> TakeLock(const std::string& path);

// Kills every process of this user whose environment names the run directory `dir` or one below it.
// Returns how many there were.
int KillLeftovers(FileSystem& disk, const std::string& dir);

// The variable by which KillLeftovers finds processes.
inline constexpr char kRunDirVariable[] = "TAAS_RUN_DIR";

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_CONTAINER_RUN_H_
