// What the node does next for one pod, and what the pod's status is: a pure function.
//
// Init containers run one after the other, each until it succeeds; then all others together. What
// ends is restarted as the pod's restartPolicy says, in place and with the kubelet's back-off.
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

// Why a container cannot be started yet: the reason and message of its waiting state.
struct StartProblem {
  std::string reason;
  std::string message;
};

// The runs of one container that exist on disk. Numbers count from 0.
struct ContainerRuns {
  int number = -1;  // The latest; -1: none yet.
  RunStatus run;    // Of the latest.
  std::optional<ExitRecord> previous;
  // The latest runs in a row that ended and were short (IsCrash).
  int crashes = 0;
  std::optional<StartProblem> problem;
  std::vector<int> gpus;  // The slots that it has.
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

// After the n-th crash of a container in a row, as the kubelet waits: not at all after the first.
std::chrono::seconds RestartDelay(int crashes);
// More than this makes no difference to RestartDelay.
inline constexpr int kCrashesMax = 7;
// False for a run that lasted so long that what came before it is forgotten.
bool IsCrash(const ExitRecord& exit);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_POD_PLAN_H_
