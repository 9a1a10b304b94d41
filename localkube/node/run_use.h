// What the processes of one container run use, read from /proc.
//
// CPU time is user and system time of everything below the run's shim, with that of processes that
// have ended: the kernel hands their time on to who waited for them, in the end the shim, whose own
// time is left out. So it only grows, whatever the container forks. Memory is that of memory_use.h,
// the measure against which a container's limit is held.
//
// A pid that is reused does not count: the process must be the child of the shim of this very run.
//
// Ownership: none. Threads: any. Errors: nullopt if the run has ended, or ends meanwhile.
//
//   if (const auto use = MeasureRun(disk, state.pid, files.dir)) Show(use->cpu);

#ifndef LOCALKUBE_NODE_RUN_USE_H_
#define LOCALKUBE_NODE_RUN_USE_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/file_system.h"

namespace taas::localkube {

struct RunUse {
  Clock::Duration cpu{};  // Since the run began.
  int64_t memory_bytes = 0;
};

// `pid`: the process that the shim of the run in `run_dir` started.
std::optional<RunUse> MeasureRun(FileSystem& disk, pid_t pid, const std::string& run_dir);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_RUN_USE_H_
