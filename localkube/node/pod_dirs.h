// Where the pods of the local cluster live on disk: D/pods/UID/containers/NAME/RUN.
//
// Ownership: value type. Threads: any. Errors: those of the FileSystem.
//
//   const PodDirs dirs(cluster_dir + "/pods");
//   const RunFiles files = dirs.Run(uid, "trainer", 0);

#ifndef LOCALKUBE_NODE_POD_DIRS_H_
#define LOCALKUBE_NODE_POD_DIRS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "localkube/node/shim_record.h"
#include "operator/base/file_system.h"

namespace taas::localkube {

class PodDirs {
 public:
  explicit PodDirs(std::string root) : root_(std::move(root)) {}

  const std::string& root() const { return root_; }
  std::string Pod(const std::string& uid) const { return root_ + "/" + uid; }
  RunFiles Run(const std::string& uid, const std::string& container, int number) const {
    return RunFiles(ContainerDir(uid, container) + "/" + std::to_string(number));
  }

  // Uids of all pods that have a directory.
  absl::StatusOr<std::vector<std::string>> Pods(FileSystem& disk) const;
  // Names of the containers of a pod that have been run.
  absl::StatusOr<std::vector<std::string>> Containers(FileSystem& disk,
                                                      const std::string& uid) const;
  // The number of the latest run; -1 if there is none.
  absl::StatusOr<int> LatestRun(FileSystem& disk, const std::string& uid,
                                const std::string& container) const;

 private:
  std::string ContainerDir(const std::string& uid, const std::string& container) const {
    return Pod(uid) + "/containers/" + container;
  }

  std::string root_;
};

// Asks every run below `dirs` to end, waits for it, and kills what has not ended `grace` later. For
// `taas local down`, when no node is at work on them. Returns how many runs were ended.
absl::StatusOr<int> EndAllRuns(FileSystem& disk, const Clock& clock, const PodDirs& dirs,
                               std::chrono::milliseconds grace);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_POD_DIRS_H_
