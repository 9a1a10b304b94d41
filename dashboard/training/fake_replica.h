// A replica's pod that runs and answers at an address, for tests.
//
// Ownership: values. Threads: any. Errors: none.
//
//   pods.push_back(RunningReplica(Role::kChief, "10.0.0.1"));

#ifndef DASHBOARD_TRAINING_FAKE_REPLICA_H_
#define DASHBOARD_TRAINING_FAKE_REPLICA_H_

#include <memory>
#include <string>

#include "dashboard/server/watched.h"

namespace taas::dashboard {

inline std::shared_ptr<WatchedPod> RunningReplica(Role role, const std::string& ip) {
  auto pod = std::make_shared<WatchedPod>();
  pod->role = role;
  pod->index = 0;
  pod->ip = ip;
  pod->phase = PodPhase::kRunning;
  pod->status_port = 2223;
  return pod;
}

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_FAKE_REPLICA_H_
