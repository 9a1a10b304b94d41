// Which replicas of a job serve pages about its training: the chief, or worker 0 where there is no
// chief, and the evaluator.
//
// Ownership: shares the pods. Threads: any. Errors: none; null for one that does not run now.
//
//   const AnsweringReplicas replicas = FindAnsweringReplicas(*job, pods);
//   if (replicas.main != nullptr) transport.Get(replicas.main->ip, …);

#ifndef DASHBOARD_TRAINING_ANSWERING_REPLICAS_H_
#define DASHBOARD_TRAINING_ANSWERING_REPLICAS_H_

#include <memory>
#include <vector>

#include "dashboard/server/watched.h"

namespace taas::dashboard {

struct AnsweringReplicas {
  std::shared_ptr<const WatchedPod> main;
  std::shared_ptr<const WatchedPod> evaluator;
};

AnsweringReplicas FindAnsweringReplicas(
    const WatchedJob& job, const std::vector<std::shared_ptr<const WatchedPod>>& pods);

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_ANSWERING_REPLICAS_H_
