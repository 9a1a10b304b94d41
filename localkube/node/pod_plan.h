// What the node does next for one pod, and what the pod's status is: a pure function.
//
// Ownership: value types. Threads: any. Errors: none; a pod that makes no sense has no containers
// to start.
//
//   const PodPlan plan = PlanPod(pod, runs, clock.WallNow());
//   for (const StartContainer& start : plan.starts) Start(start);

#ifndef LOCALKUBE_NODE_POD_PLAN_H_
#define LOCALKUBE_NODE_POD_PLAN_H_

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "localkube/node/container_run.h"
#include "nlohmann/json_fwd.hpp"
#include "operator/base/clock.h"

namespace taas::localkube {

// The runs of one container that exist on disk. Numbers count from 0.
struct ContainerRuns {
  int number = -1;  // The latest; -1: none yet.
  RunStatus run;    // Of the latest.
  std::optional<ExitRecord> previous;
};

struct StartContainer {
  std::string container;
  int number = 0;
};

struct StopContainer {
  std::string container;
  int number = 0;
  std::chrono::milliseconds grace{0};
};

struct PodPlan {
  std::vector<StartContainer> starts;
  std::vector<StopContainer> stops;
  std::string status;             // JSON of the pod's status.
  bool confirm_deletion = false;  // Nothing runs any more: the object may go.
  std::optional<Clock::WallTime> wake_at;
};

PodPlan PlanPod(const nlohmann::json& pod, const std::map<std::string, ContainerRuns>& runs,
                Clock::WallTime now);

// Before the n-th restart of a container, n from 1: as the kubelet waits.
std::chrono::seconds RestartDelay(int restarts);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_POD_PLAN_H_
