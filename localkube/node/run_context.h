// What a container's run needs to know of the machine and the cluster.
//
// Ownership: value type. Threads: const access from any thread. Errors: none.
//
//   RunContext context{.pod_dir = dirs.Pod(uid), .volumes_dir = dir + "/volumes"};

#ifndef LOCALKUBE_NODE_RUN_CONTEXT_H_
#define LOCALKUBE_NODE_RUN_CONTEXT_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "localkube/node/schedule.h"

namespace taas::localkube {

// Directories of this machine by claim: "CLAIM" or "NAMESPACE/CLAIM".
using VolumeBindings = std::map<std::string, std::string>;

struct RunContext {
  std::string pod_dir;      // Of this pod; emptyDir volumes live in it.
  std::string volumes_dir;  // Claims are in it, unless bound (pod_volumes.h).
  VolumeBindings volume_bindings;
  std::string trainer_path;
  // The first variables of every container.
  std::vector<std::pair<std::string, std::string>> base_env;
  // Whether volumes can be mounted (sandbox.h). If not, paths in TAAS_TRAINER are translated
  // instead.
  bool sandbox = true;
  std::string owner_lock;
  Resources node;         // What the pod's node has.
  std::vector<int> gpus;  // The slots that this pod got, in the order of its containers.
  bool real_gpus = false;  // The slots are devices of this machine, not simulated ones.
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_RUN_CONTEXT_H_
