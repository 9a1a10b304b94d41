// The directory of a cluster: who may have made it, and what may be in it.
//
// Whoever can write there gives the cluster its token and its log file, and so the rights of the
// user that runs it. So the directory and what is in it must be that user's; modes that are too
// wide are narrowed, and what belongs to somebody else is refused with what to do.
//
// Ownership: none. Threads: any. Errors: FailedPrecondition: not a cluster's directory, or not this
// user's; else what could not be made or read, with its path.
//
//   RETURN_IF_ERROR(MakeClusterDirectory(disk, dir));
//   RETURN_IF_ERROR(MakeLogFile(LogPath(dir)));

#ifndef LOCALKUBE_CLUSTER_CLUSTER_DIRECTORY_H_
#define LOCALKUBE_CLUSTER_CLUSTER_DIRECTORY_H_

#include <sys/types.h>

#include <string>

#include "absl/status/status.h"
#include "operator/base/file_system.h"

namespace taas::localkube {

// Makes `dir`, or takes one that is empty or a cluster's; afterwards it has 0700.
absl::Status MakeClusterDirectory(FileSystem& disk, const std::string& dir);
// That a directory which exists may be believed; narrows its mode to 0700, and takes from others
// the right to write to what is in it. `user` is who it should belong to: geteuid().
absl::Status CheckClusterDirectory(FileSystem& disk, const std::string& dir, uid_t user);
// An empty file with 0600, if there is none; never what a link leads to.
absl::Status MakeLogFile(const std::string& path);

// The names in a cluster's directory, for who looks at it from outside.
std::string LockPath(const std::string& dir);
std::string PidPath(const std::string& dir);
std::string LogPath(const std::string& dir);

}  // namespace taas::localkube

#endif  // LOCALKUBE_CLUSTER_CLUSTER_DIRECTORY_H_
