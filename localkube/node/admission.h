// Whether a node takes a pod that is bound to it, as a kubelet asks before it starts anything.
//
// A scheduler counts what is free; a pod whose spec names its node has passed none. What does not
// fit ends at once: phase Failed, reason OutOfcpu, OutOfmemory, …
//
// Ownership: values. Threads: any. Errors: none.
//
//   if (const auto refusal = Admit(pod, on_node, allocatable)) return Fail(pod, *refusal);

#ifndef LOCALKUBE_NODE_ADMISSION_H_
#define LOCALKUBE_NODE_ADMISSION_H_

#include <optional>
#include <string>
#include <vector>

#include "localkube/node/schedule.h"
#include "nlohmann/json_fwd.hpp"

namespace taas::localkube {

struct Refusal {
  std::string reason;   // "OutOfcpu"
  std::string message;  // In the kubelet's words; of an event.
};

// `others` is what those ask for that the node has taken and that have not ended.
std::optional<Refusal> Admit(const Resources& wanted, const std::vector<Resources>& others,
                             const Resources& allocatable);

// JSON of the status of a pod that was refused.
std::string RefusedStatus(const nlohmann::json& pod, const Refusal& refusal,
                          const std::string& now);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_ADMISSION_H_
