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

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "localkube/node/shim_record.h"
#include "nlohmann/json_fwd.hpp"

namespace taas::localkube {

struct RunContext {
  std::string pod_dir;      // Of this pod; emptyDir volumes live in it.
  std::string volumes_dir;  // Claims are directories NAMESPACE/CLAIM in it, unless bound.
  // Directories of this machine by claim: "CLAIM" or "NAMESPACE/CLAIM".
  std::map<std::string, std::string> volume_bindings;
  std::string trainer_path;
  // The first variables of every container.
  std::vector<std::pair<std::string, std::string>> base_env;
  // Whether volumes can be mounted (sandbox.h). If not, paths in TAAS_TRAINER are translated
  // instead.
  bool sandbox = true;
  std::string owner_lock;
  std::string node_name;
  std::vector<int> gpus;  // The slots that this pod got.
};

struct ContainerRun {
  RunSpec spec;
  std::vector<std::string> dirs;  // To be made before the run starts.
};

absl::StatusOr<ContainerRun> PlanRun(const nlohmann::json& pod, const std::string& container,
                                     const RunFiles& files, const RunContext& context);

// True for the default trainer image, whatever its tag or digest.
bool IsTrainerImage(const std::string& image);

// Replaces `$(NAME)` by its value, `$$(NAME)` by "$(NAME)"; unknown names stay, as in Kubernetes.
std::string ExpandVariables(const std::string& text,
                            const std::map<std::string, std::string>& variables);

// The JSON text with each string that is a mount's target, or a path below it, moved to the mount's
// source.
std::string TranslatePaths(const std::string& json, const std::vector<RunMount>& mounts);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_POD_RUN_H_
