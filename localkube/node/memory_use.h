// How much memory a container's processes have to themselves.
//
// Anonymous memory of a process and all below it, as a cgroup would charge it but for files and
// kernel memory. Pages that a fork shares count once.
//
// Ownership: none. Threads: any. Errors: a process that ends meanwhile counts as nothing.
//
//   if (MemoryUse(disk, pid, limit) > limit) Kill(pid);

#ifndef LOCALKUBE_NODE_MEMORY_USE_H_
#define LOCALKUBE_NODE_MEMORY_USE_H_

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "operator/base/file_system.h"

namespace taas::localkube {

// `pid` and all its descendants, parents first.
std::vector<pid_t> ProcessTree(FileSystem& disk, pid_t pid);

// Bytes of the tree of `pid`. An estimate from above that is quick to get, made exact only where it
// is more than `limit`.
int64_t MemoryUse(FileSystem& disk, pid_t pid, int64_t limit);
// The same of these processes together.
int64_t MemoryUse(FileSystem& disk, const std::vector<pid_t>& pids, int64_t limit);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_MEMORY_USE_H_
