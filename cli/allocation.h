// Who holds which part of a cluster's nodes, and who uses how much of it.
//
// Held is what the scheduler counts: requests of pods that have a node and have not ended, from
// the specs alone. Used is what the metrics API measures, where a cluster has one. How busy a GPU
// is is another question, which its trainer answers (docs/contract.md).
//
// Ownership: values. Threads: any. Errors: none; what cannot be read counts as nothing.
//
//   std::optional<NodeUse> node = ReadNode(json, "nvidia.com/gpu");
//   Charge(pod, &nodes);
//   io.out << NodeTable(nodes);

#ifndef CLI_ALLOCATION_H_
#define CLI_ALLOCATION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace taas {

// A Kubernetes quantity in thousandths: "500m" is 500, "2" is 2000, "1Ki" is 1024000.
std::optional<int64_t> ParseMilli(std::string_view quantity);

struct Amounts {
  int64_t milli_cpu = 0;
  int64_t memory = 0;  // Bytes.
  int64_t gpus = 0;

  bool operator==(const Amounts&) const = default;
};

// What the metrics API says of a pod or a node.
struct Measured {
  int64_t milli_cpu = 0;
  int64_t memory = 0;  // Bytes.

  bool operator==(const Measured&) const = default;
};

struct MetricsObject {
  std::string ns, name;  // A node has no namespace.
  Measured used;
};
// A PodMetrics, whose containers are summed up, or a NodeMetrics.
std::optional<MetricsObject> ReadMetricsObject(std::string_view json);

// Adds what is measured; a sum of which no part is measured stays empty.
void AddMeasured(const std::optional<Measured>& more, std::optional<Measured>* to);

struct NodeUse {
  std::string name;
  std::string state;     // "Ready", "NotReady", with ",SchedulingDisabled".
  std::string gpu_type;  // Of the label nvidia.com/gpu.product.
  Amounts total;         // What can be given away.
  Amounts held;
  std::optional<Measured> used;
  int pods = 0;
};
std::optional<NodeUse> ReadNode(std::string_view json, const std::string& gpu_resource);

struct PodUse {
  std::string ns, name, node;
  std::string state;    // The phase, or Terminating.
  bool ended = false;   // It holds nothing any more.
  std::string job_uid;  // Of the controlling owner.
  std::string replica;  // "worker-0"; empty: it is none of ours.
  Amounts asked;        // As the scheduler counts: the larger of init containers and the rest.
  std::optional<Measured> used;
};
std::optional<PodUse> ReadPodUse(std::string_view json, const std::string& gpu_resource);

// Adds what the pod holds to its node.
void Charge(const PodUse& pod, std::map<std::string, NodeUse>* nodes);

// "4", "500m"; "1.5Gi".
std::string CpuText(int64_t milli);
std::string MemoryText(int64_t bytes);
// The two of them; empty if nothing is measured.
std::vector<std::string> MeasuredCells(const std::optional<Measured>& used);

// NODE STATE GPU(TOTAL) GPU(HELD) … with a sum for the cluster.
std::string NodeTable(const std::map<std::string, NodeUse>& nodes);
// POD REPLICA STATE NODE GPUS CPU MEMORY CPU(USED) MEM(USED).
std::string PodTable(const std::vector<PodUse>& pods, bool with_namespace = false);

}  // namespace taas

#endif  // CLI_ALLOCATION_H_
