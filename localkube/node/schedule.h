// Which pods go on which nodes now, and why the others go nowhere: a pure function.
//
// Nodes have cpu, memory, GPU slots, labels and taints. Pods are taken in the order of their
// creation; a pod that does not fit does not hold up those behind it. Of the nodes that a pod fits
// the one that its preferences like best gets it, then the one with the smallest share in use, so
// that pods spread: as kube-scheduler filters, and in the main as it scores.
//
// Ownership: value types. Threads: any. Errors: none; a quantity that cannot be read, which the API
// server does not take, counts as nothing.
//
//   for (const Placement& placement : Schedule(nodes, pods)) Bind(placement);

#ifndef LOCALKUBE_NODE_SCHEDULE_H_
#define LOCALKUBE_NODE_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "localkube/node/node_rules.h"
#include "nlohmann/json_fwd.hpp"

namespace taas::localkube {

inline constexpr char kGpuResource[] = "nvidia.com/gpu";
// The kubelet's default is 110; our nodes share one machine and its limit is processes.
inline constexpr int64_t kPodsPerNodeMax = 1000;

struct Resources {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t gpus = 0;
};

// What a node says of itself.
struct NodeCapacity {
  std::string name;
  NodeLabels labels;
  Resources allocatable;
};

// A node as its object has it.
struct NodeState {
  std::string name;
  NodeLabels labels;
  std::vector<Taint> taints;
  bool unschedulable = false;  // Cordoned.
  Resources allocatable;
  int64_t pods_max = kPodsPerNodeMax;
};

struct PodToPlace {
  std::string key;      // The caller's.
  std::string node;     // Not empty: placed already.
  bool holds = true;    // False once it has ended: its resources are free.
  std::string created;  // RFC 3339; ties are broken by key.
  Resources requests;
  NodeRules rules;
  std::vector<Toleration> tolerations;
};

struct Placement {
  std::string key;
  std::string node;     // Empty: no node fits.
  std::string message;  // Why not, in kube-scheduler's words.
};

// One entry for each pod without a node.
std::vector<Placement> Schedule(const std::vector<NodeState>& nodes, std::vector<PodToPlace> pods);

// Of a core/v1 Pod and a core/v1 Node.
PodToPlace ReadPodToPlace(const nlohmann::json& pod);
NodeState ReadNodeState(const nlohmann::json& node);

// The amount of `name` in a list of quantities, in thousandths: as operator/api/quantity.h reads
// it, 0 if there is none. What is too large for 64 bits is the largest amount, which no node has.
int64_t AmountMilli(const nlohmann::json& list, const char* name);
// Amounts that may be the largest, added up.
Resources Sum(const Resources& a, const Resources& b);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_SCHEDULE_H_
