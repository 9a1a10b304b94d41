// Lays out on disk what a shim needs for one run of a container: its specification, and the files
// of its volumes.
//
// Ownership: what is given at construction outlives it. Threads: one. Errors: InvalidArgument: a
// sentence for the user on what of this pod the local cluster cannot run; FailedPrecondition: what
// the container names does not exist yet; others of API and disk.
//
//   RETURN_IF_ERROR(preparer.Prepare(uid, pod, "trainer", files, {.node = node, .gpus = gpus}));
//   RETURN_IF_ERROR(StartRun(shim, files));

#ifndef LOCALKUBE_NODE_RUN_PREPARER_H_
#define LOCALKUBE_NODE_RUN_PREPARER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "localkube/node/api_calls.h"
#include "localkube/node/pod_config.h"
#include "localkube/node/pod_dirs.h"
#include "localkube/node/pod_run.h"
#include "localkube/node/run_context.h"
#include "nlohmann/json_fwd.hpp"
#include "operator/base/file_system.h"

namespace taas::localkube {

class RunPreparer {
 public:
  // What a pod got of its node.
  struct Share {
    Resources node;  // All that the node has.
    std::vector<int> gpus;
  };
  // `common` is what all pods' contexts have in common.
  RunPreparer(RunContext common, ApiCalls& api, FileSystem& disk, const PodDirs& dirs);

  // Durable when it returns.
  absl::Status Prepare(const std::string& uid, const nlohmann::json& pod,
                       const std::string& container, const RunFiles& files, Share share);

 private:
  absl::StatusOr<PodConfig> ReadConfig(const nlohmann::json& pod);
  absl::Status WriteVolumeFiles(const ContainerRun& run);

  const RunContext common_;
  ApiCalls& api_;
  FileSystem& disk_;
  const PodDirs& dirs_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_RUN_PREPARER_H_
