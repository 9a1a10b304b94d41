// What lies on disk of the runs of a pod's containers.
//
// Ownership: none. Threads: one. Errors: those of the FileSystem; InvalidArgument for a record that
// is not one of ours.
//
//   ASSIGN_OR_RETURN(auto runs, ReadPodRuns(disk, dirs, watcher, uid, ContainerNames(pod)));

#ifndef LOCALKUBE_NODE_POD_RUNS_H_
#define LOCALKUBE_NODE_POD_RUNS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "localkube/node/pod_dirs.h"
#include "localkube/node/pod_plan.h"
#include "localkube/node/run_watcher.h"
#include "nlohmann/json_fwd.hpp"
#include "operator/base/file_system.h"

namespace taas::localkube {

// Init containers first.
std::vector<std::string> ContainerNames(const nlohmann::json& pod);

// By container; `watcher` wakes when the latest of them changes.
absl::StatusOr<std::map<std::string, ContainerRuns>> ReadPodRuns(
    FileSystem& disk, const PodDirs& dirs, RunWatcher& watcher, const std::string& uid,
    const std::vector<std::string>& names);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_POD_RUNS_H_
