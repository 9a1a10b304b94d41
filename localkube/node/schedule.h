// Which pods go on the node now, and why the others do not: a pure function.
//
// One node with cpu, memory and GPU slots. Pods are taken in the order of their creation; a pod
// that does not fit does not hold up those behind it, as in kube-scheduler.
//
// Ownership: value types. Threads: any. Errors: none; a quantity that cannot be read counts as
// nothing.
//
//   for (const Placement& placement : Schedule(capacity, pods)) Bind(placement);

#ifndef LOCALKUBE_NODE_SCHEDULE_H_
#define LOCALKUBE_NODE_SCHEDULE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"

namespace taas::localkube {

inline constexpr char kGpuResource[] = "nvidia.com/gpu";

struct Resources {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t gpus = 0;
};

struct NodeCapacity {
  std::string name;
  std::map<std::string, std::string> labels;
  Resources allocatable;
};

struct PodToPlace {
  std::string key;      // The caller's.
  std::string node;     // Not empty: placed already.
  bool holds = true;    // False once it has ended: its resources are free.
  std::string created;  // RFC 3339; ties are broken by key.
  Resources requests;
  // Why this pod may not use the node, whatever is free; empty: it may.
  std::string refusal;
};

struct Placement {
  std::string key;
  bool fits = false;
  std::string message;  // Why not, in kube-scheduler's words.
};

// One entry for each pod without a node.
std::vector<Placement> Schedule(const NodeCapacity& node, std::vector<PodToPlace> pods);

// Of a core/v1 Pod: its requests, node selector and affinity are all that is looked at.
PodToPlace ReadPodToPlace(const nlohmann::json& pod, const NodeCapacity& node);

// "500m", "2", "1.5", "64Mi", "1e3": in thousandths. 0 if it is none of these.
int64_t QuantityMilli(const std::string& text);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_SCHEDULE_H_
