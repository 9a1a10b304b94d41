// That a job's ConfigMap (cluster_map.h) is there, as far as the operator can know, which may make
// ConfigMaps and read none.
//
// Ownership: value type. Threads: the executor's only. Errors: none.
//
//   memory.Remember(step.name, now);
//   snapshot.cluster_map = memory.Believed(AnyLacks(snapshot.pods, memory.name()), now);
//   if (const auto after = memory.LookAgainAfter(now)) queue.AddAfter(key, *after);

#ifndef OPERATOR_CONTROLLER_CLUSTER_MAP_MEMORY_H_
#define OPERATOR_CONTROLLER_CLUSTER_MAP_MEMORY_H_

#include <optional>
#include <string>
#include <utility>

#include "operator/base/clock.h"

namespace taas {

class ClusterMapMemory {
 public:
  // The API server has made it, or said that it was there.
  void Remember(std::string name, Clock::Time now) {
    name_ = std::move(name);
    since_ = now;
    doubted_ = false;
  }

  const std::string& name() const { return name_; }

  // Its name; empty: none is known. `lacking`: the node of some pod says that it is not there,
  // which a node may also say of what it has not heard of yet.
  const std::string& Believed(bool lacking, Clock::Time now) {
    if (lacking && now - since_ >= kTrust) name_.clear();
    doubted_ = lacking && !name_.empty();
    return name_;
  }

  // When it will be believed no longer.
  std::optional<Clock::Duration> LookAgainAfter(Clock::Time now) const {
    if (!doubted_) return std::nullopt;
    return since_ + kTrust - now;
  }

 private:
  // Longer than a node needs to hear of an object that was just made.
  static constexpr std::chrono::seconds kTrust{10};

  std::string name_;
  Clock::Time since_{};
  bool doubted_ = false;
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_CLUSTER_MAP_MEMORY_H_
