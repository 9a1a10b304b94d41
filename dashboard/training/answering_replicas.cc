#include "dashboard/training/answering_replicas.h"

namespace taas::dashboard {
namespace {

using PodPtr = std::shared_ptr<const WatchedPod>;

PodPtr PodOf(const std::vector<PodPtr>& pods, Role role) {
  for (const PodPtr& pod : pods) {
    const bool answers = pod->phase == PodPhase::kRunning && !pod->ip.empty() &&
                         pod->status_port > 0;
    if (pod->role == role && pod->index == 0 && answers) return pod;
  }
  return nullptr;
}

bool HasRole(const WatchedJob& job, Role role) {
  for (const WatchedRole& of_job : job.roles) {
    if (of_job.role == role && of_job.desired > 0) return true;
  }
  return false;
}

}  // namespace

AnsweringReplicas FindAnsweringReplicas(const WatchedJob& job, const std::vector<PodPtr>& pods) {
  const Role main = HasRole(job, Role::kChief) ? Role::kChief : Role::kWorker;
  return {.main = PodOf(pods, main), .evaluator = PodOf(pods, Role::kEvaluator)};
}

}  // namespace taas::dashboard
