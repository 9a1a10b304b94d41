// Who holds which GPU of which node: a GpuMap of dashboard/web.
//
// It is made in two steps, since many look at the same cluster and each sees another part of it:
// the table once of everything, then a text for each sight. Of what somebody may not see she gets
// the number of GPUs and no name.
//
// Which device a pod has is said by the cluster, by its trainer, or by nobody; then the pod counts
// and no device is guessed. Of two pods that both claim a device (an old status) both are shown.
//
// Pure. Ownership: values. Threads: const access from any thread. Errors: none; what makes no sense
// (a negative count, a name of 10 KB) is cut down to what does.
//
//   const GpuTable table({.resource = "nvidia.com/gpu", .nodes = cache.Nodes(), …});
//   respond(table.TextFor(*sight));

#ifndef DASHBOARD_MAPS_GPU_VIEW_H_
#define DASHBOARD_MAPS_GPU_VIEW_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dashboard/server/sight.h"
#include "dashboard/server/watched.h"

namespace taas::dashboard {

// What a trainer measured of one device of its own.
struct DeviceReading {
  std::string id;
  std::optional<double> utilization;  // 0 … 1
  std::optional<int64_t> memory_used_mib, memory_total_mib;
  std::optional<double> power_watts, power_limit_watts;
  std::optional<int64_t> temperature_c;
  std::optional<std::vector<std::string>> throttle;  // Words of docs/contract.md.
  std::optional<int64_t> ecc_uncorrected;

  bool operator==(const DeviceReading&) const = default;
};

struct GpuFacts {
  using NodePtr = std::shared_ptr<const WatchedNode>;
  using PodPtr = std::shared_ptr<const WatchedPod>;
  using JobPtr = std::shared_ptr<const WatchedJob>;

  std::string resource;
  // The nodes are those of `taas local`, whose devices are the slots 0, 1, …
  bool local = false;
  // False: the dashboard itself may not see nodes.
  bool nodes_known = true;
  std::vector<NodePtr> nodes;
  std::vector<PodPtr> pods;  // Those without GPUs count for nothing.
  // By JobKey; null: there is none.
  std::function<JobPtr(const std::string& key)> job;
  // Whether a job trains and makes no progress.
  std::function<bool(const WatchedJob& job)> stands_still;
  // What the trainer in a pod measured last; null: nobody did.
  std::function<const std::vector<DeviceReading>*(const WatchedPod& pod)> readings;
};

class GpuTable {
 public:
  // No machine has more, and a page must not draw all that somebody wrote into a status.
  static constexpr int32_t kGpusOfNodeMax = 1'024;

  explicit GpuTable(const GpuFacts& facts);

  // A GpuMap in JSON.
  std::string TextFor(const Sight& sight) const;

 private:
  class Maker;
  // A pod that holds GPUs or waits for some. Its job has rights of its own.
  struct Holder {
    std::string ns;
    std::string pod;     // JSON without the closing brace.
    std::string of_job;  // Members that come after it.
    std::optional<JobKind> kind;
    int64_t gpus = 0;
  };
  struct Device {
    std::string text;             // JSON.
    std::vector<size_t> holders;  // Of the node; none: it is free.
  };
  struct Node {
    std::string name;   // JSON without the closing brace: what her own pods say of it.
    std::string about;  // Members that come after it, for those who may see nodes.
    bool has_gpus = false;
    std::vector<Holder> holders;
    std::vector<Device> devices;
  };

  static void AppendHolder(const Holder& holder, const Sight& sight, std::string* out);
  void AppendNode(const Node& node, const Sight& sight, std::string* out) const;

  std::string resource_;
  bool nodes_known_ = true;
  size_t size_ = 0;  // About that of the text of everything.
  std::vector<Node> nodes_;
  std::vector<Holder> pending_;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_MAPS_GPU_VIEW_H_
