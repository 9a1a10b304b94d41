// What of a pod's new status is worth an event, as a kubelet would tell it: a pure function.
//
// Ownership: values. Threads: any. Errors: none.
//
//   for (const PodEvent& event : ChangeEvents(pod, new_status)) events.Emit(pod, event);

#ifndef LOCALKUBE_NODE_POD_CHANGES_H_
#define LOCALKUBE_NODE_POD_CHANGES_H_

#include <vector>

#include "localkube/node/pod_events.h"
#include "nlohmann/json_fwd.hpp"

namespace taas::localkube {

// `pod` has the old status.
std::vector<PodEvent> ChangeEvents(const nlohmann::json& pod, const nlohmann::json& status);

// What a user should know about a container before its first run: that its image is not what runs,
// and what of it is left out.
std::vector<PodEvent> StartEvents(const nlohmann::json& container);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_POD_CHANGES_H_
