// From a pod's container to the run that a shim executes: command, environment, volumes.
//
// Pure: what must exist on disk is returned, not made. There is no image pull: the bundled
// trainer's image is the trainer beside this program, another image's `command` runs on this
// machine.
//
// Ownership: value types. Threads: any. Errors: InvalidArgument: a sentence for the user on what of
// this pod the local cluster cannot run.
//
//   ASSIGN_OR_RETURN(const ContainerRun run, PlanRun(pod, "trainer", files, context));

#ifndef LOCALKUBE_NODE_POD_RUN_H_
#define LOCALKUBE_NODE_POD_RUN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "localkube/node/pod_config.h"
#include "localkube/node/pod_volumes.h"
#include "localkube/node/run_context.h"
#include "localkube/node/shim_record.h"
#include "nlohmann/json_fwd.hpp"

namespace taas::localkube {

struct ContainerRun {
  RunSpec spec;
  std::vector<std::string> dirs;  // To be made before the run starts, then the files.
  std::vector<VolumeFile> files;
};

absl::StatusOr<ContainerRun> PlanRun(const nlohmann::json& pod, const std::string& container,
                                     const RunFiles& files, const RunContext& context,
                                     const PodConfig& config);

// The container, or init container, of that name; null if there is none.
const nlohmann::json* FindContainer(const nlohmann::json& pod, const std::string& name);

// True for the default trainer image and the one for GPUs, whatever their tags or digests.
bool IsTrainerImage(const std::string& image);

// Says of a container whose image is another than the trainer's that its command runs without it.
// Empty: there is nothing to say.
std::string ImageNote(const nlohmann::json& container);

// Says of a container with the trainer's image of another version that it runs this one.
// Empty: there is nothing to say.
std::string TagNote(const nlohmann::json& container);

// A mount's target, or a path below it, moved to the mount's source; any other text as it is.
std::string TranslatePath(const std::string& text, const std::vector<RunMount>& mounts);

// The JSON text with each string that is a mount's target, or a path below it, moved to the mount's
// source.
std::string TranslatePaths(const std::string& json, const std::vector<RunMount>& mounts);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_POD_RUN_H_
