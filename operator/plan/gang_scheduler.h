// Which program places the pods of a job together, as the operator's flags say it.
//
// Ownership: value types. Threads: any. Errors: none.
//
//   snapshot.gang = {.scheduler = GangScheduler::kVolcano, .name = "volcano"};

#ifndef OPERATOR_PLAN_GANG_SCHEDULER_H_
#define OPERATOR_PLAN_GANG_SCHEDULER_H_

#include <string>

namespace taas {

enum class GangScheduler {
  kNone,
  kVolcano,       // A PodGroup of scheduling.volcano.sh/v1beta1.
  kCoscheduling,  // A PodGroup of scheduling.x-k8s.io/v1alpha1: the plugin of kube-scheduler.
  kKueue,         // Labels and annotations of pods of TrainingJobs; TFJobs it knows by itself.
};

struct GangOptions {
  GangScheduler scheduler = GangScheduler::kNone;
  // The schedulerName of pods whose template names none; empty: the cluster's default one.
  std::string name;

  bool operator==(const GangOptions&) const = default;
};

// How its users call it.
inline std::string GangSchedulerName(GangScheduler scheduler) {
  switch (scheduler) {
    case GangScheduler::kNone: return "none";
    case GangScheduler::kVolcano: return "Volcano";
    case GangScheduler::kCoscheduling: return "coscheduling";
    case GangScheduler::kKueue: return "Kueue";
  }
  return "unknown";
}

}  // namespace taas

#endif  // OPERATOR_PLAN_GANG_SCHEDULER_H_
