#include "dashboard/logs/log_pod.h"

#include <algorithm>
#include <tuple>

#include "dashboard/server/health.h"
#include "dashboard/server/job_view.h"
#include "operator/kube/log_container.h"

namespace taas::dashboard {
namespace {

LogPod::State StateOf(const WatchedPod& pod) {
  const bool ended = pod.phase == PodPhase::kSucceeded || pod.phase == PodPhase::kFailed;
  if (ended || pod.container_ended) return LogPod::State::kEnded;
  return MayHaveLog(pod) ? LogPod::State::kRunning : LogPod::State::kWaiting;
}

std::string EndOf(const WatchedPod& pod) {
  if (!pod.exit_code.has_value()) return WhyOfPod(pod);
  std::string text = "exit code " + std::to_string(*pod.exit_code);
  const bool says_more = !pod.exit_reason.empty() && pod.exit_reason != "Completed" &&
                         pod.exit_reason != "Error";
  if (says_more) text += " (" + pod.exit_reason.str() + ")";
  return text;
}

}  // namespace

std::vector<LogPod> LogPodsOf(const ClusterCache& cache, const WatchedJob& job) {
  std::vector<ClusterCache::PodPtr> pods = cache.PodsOf(job);
  std::sort(pods.begin(), pods.end(), [](const auto& a, const auto& b) {
    return std::tie(a->role, a->index, a->pod_number, a->meta.name) <
           std::tie(b->role, b->index, b->pod_number, b->meta.name);
  });
  std::vector<LogPod> out;
  for (const ClusterCache::PodPtr& pod : pods) {
    LogPod log{.uid = pod->meta.uid,
               .ns = pod->meta.ns,
               .name = pod->meta.name,
               .replica = ReplicaName(job, *pod),
               .container = LogContainerOf(*pod, pod->containers, job.kind),
               .pod_number = pod->pod_number,
               .state = StateOf(*pod)};
    if (log.state == LogPod::State::kWaiting) log.message = WhyOfPod(*pod);
    if (log.state == LogPod::State::kEnded) log.message = EndOf(*pod);
    out.push_back(std::move(log));
  }
  return out;
}

}  // namespace taas::dashboard
