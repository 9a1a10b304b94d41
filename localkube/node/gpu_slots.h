// Which GPU slots of its pod a container has.
//
// A node gives slots to a pod as a whole; its containers take them in the manifest's order. Init
// containers run alone, each with the first ones.
//
// Ownership: values. Threads: any. Errors: none; what the pod did not get is not handed on.
//
//   ContainerSlots(pod, "second", {2, 3});  // {3}, if the first one asks for one GPU

#ifndef LOCALKUBE_NODE_GPU_SLOTS_H_
#define LOCALKUBE_NODE_GPU_SLOTS_H_

#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"

namespace taas::localkube {

std::vector<int> ContainerSlots(const nlohmann::json& pod, const std::string& container,
                                const std::vector<int>& pod_slots);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_GPU_SLOTS_H_
