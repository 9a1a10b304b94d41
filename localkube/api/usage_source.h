// Where the API server learns what containers and nodes use: the figures behind `kubectl top`.
//
// The node implements this by measuring processes; the API server turns the figures into the
// objects of metrics.k8s.io.
//
// Ownership: values. Threads: any. Errors: none; what is not measured is nullopt.
//
//   if (const auto use = source.OfPod(uid)) Show(use->containers.at("trainer").memory_bytes);

#ifndef LOCALKUBE_API_USAGE_SOURCE_H_
#define LOCALKUBE_API_USAGE_SOURCE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "operator/base/clock.h"

namespace taas::localkube {

struct Usage {
  int64_t nanocores = 0;  // 1'000'000'000: one processor all the time.
  int64_t memory_bytes = 0;
};

// The CPU figures are means over `length`, which ended at `end`.
struct UsageWindow {
  Clock::WallTime end{};
  Clock::Duration length{};
};

struct PodUsage {
  UsageWindow window;
  std::map<std::string, Usage> containers;  // Those that run now. Never empty.
};

struct NodeUsage {
  UsageWindow window;
  Usage usage;
};

class UsageSource {
 public:
  virtual ~UsageSource() = default;
  // Nullopt unless all of the pod's running containers are measured, and if none of them runs.
  virtual std::optional<PodUsage> OfPod(const std::string& uid) const = 0;
  // Nullopt for a node that nobody measures.
  virtual std::optional<NodeUsage> OfNode(const std::string& name) const = 0;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_USAGE_SOURCE_H_
