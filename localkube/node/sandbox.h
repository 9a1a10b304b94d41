// Volumes for a process, without a container runtime: a mount and process namespace made by
// bubblewrap.
//
// The process sees the machine's files as they are, with the run's volumes bound where it expects
// them. Mount points that the machine does not have are made in memory: nothing is created on the
// machine's disks. All processes of the namespace end with the first of them.
//
// Ownership: none. Threads: any. Errors: Unavailable if the machine's root cannot be listed.
//
//   if (SandboxWorks()) ASSIGN_OR_RETURN(argv, SandboxCommand(spec, info_fd));

#ifndef LOCALKUBE_NODE_SANDBOX_H_
#define LOCALKUBE_NODE_SANDBOX_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "localkube/node/shim_record.h"

namespace taas::localkube {

// Where Debian's package puts it; a program of the same name elsewhere on PATH is not trusted.
inline constexpr char kBubblewrap[] = "/usr/bin/bwrap";

// The command that runs `spec.argv` with `spec.mounts` in place. `info_fd` is a descriptor that
// bubblewrap writes the pid of the namespace's first process to.
absl::StatusOr<std::vector<std::string>> SandboxCommand(const RunSpec& spec, int info_fd);

// Tries it: kernels and container runtimes may refuse namespaces. Takes some 10 ms.
bool SandboxWorks();

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_SANDBOX_H_
