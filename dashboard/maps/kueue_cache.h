// One copy of Kueue's queues and workloads, where the cluster has Kueue.
//
// Whether it has, and in which version, is asked of the API server, and again every minute: Kueue
// may be installed, upgraded and removed while the dashboard runs. The dashboard is ready without
// it.
//
// Ownership: transport, executor and random outlive it; objects are shared and immutable. Threads:
// the executor's only. Errors: none; what fails is tried again for ever.
//
//   KueueCache cache(transport, executor, random, {}, [] { … });
//   cache.Start();
//   if (const auto objects = cache.Objects()) Show(*objects);

#ifndef DASHBOARD_MAPS_KUEUE_CACHE_H_
#define DASHBOARD_MAPS_KUEUE_CACHE_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dashboard/maps/kueue_objects.h"
#include "operator/base/executor.h"
#include "operator/base/random.h"
#include "operator/kube/transport.h"

namespace taas::dashboard {

class KueueCache {
 public:
  // One small request. Whoever installs Kueue does not look at this page in the same minute.
  static constexpr std::chrono::minutes kLookEvery{1};

  struct Options {
    std::vector<std::string> namespaces;  // Empty: all, and ClusterQueues, which are in none.
    std::string gpu_resource = "nvidia.com/gpu";
  };

  KueueCache(KubeTransport& transport, Executor& executor, Random& random, Options options,
             std::function<void()> on_change);
  ~KueueCache();

  void Start() { Look(); }
  // Nothing: the cluster has no Kueue, or has not listed its queues yet.
  std::optional<KueueObjects> Objects() const;
  // Where there are queues or workloads.
  std::set<std::string> Namespaces() const;

 private:
  struct Scope;

  void Look();
  void OnAnswer(const absl::StatusOr<HttpReply>& reply);
  void Follow(const std::string& group_version);
  std::unique_ptr<Scope> MakeScope(const std::string& ns) const;
  bool synced() const;

  KubeTransport& transport_;
  Executor& executor_;
  Random& random_;
  const Options options_;
  const std::function<void()> on_change_;
  std::string group_version_;  // "kueue.x-k8s.io/v1beta2"; empty: there is no Kueue.
  std::vector<std::unique_ptr<Scope>> scopes_;
  Executor::TimerId timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_MAPS_KUEUE_CACHE_H_
