// Jobs and pods for the planner's tests, as they look to the operator.
//
// Ownership: values. Threads: the test's. Errors: none.
//
//   Snapshot now = NewJob({.workers = 2, .ps = 1});
//   now.pods.push_back(PodOf(now, Role::kWorker, 0, {.phase = PodPhase::kRunning}));

#ifndef OPERATOR_PLAN_PLAN_FIXTURE_H_
#define OPERATOR_PLAN_PLAN_FIXTURE_H_

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "operator/plan/plan.h"
#include "operator/plan/pod_spec.h"
#include "operator/plan/snapshot.h"

namespace taas {

struct JobShape {
  int32_t chiefs = 0;
  int32_t ps = 0;
  int32_t workers = 0;
  int32_t evaluators = 0;
};
// Job default/mnist, uid "uid-1", without a ledger.
Snapshot NewJob(JobShape shape);
// The same with a stored ledger that knows each replica's pod 1, and with its service.
Snapshot StartedJob(JobShape shape);

// The same as a TFJob of policy Never whose pods bring their own image, with a service per replica.
Snapshot StartedTfJob(JobShape shape);
// The job's service, as it is in the cluster.
ServiceView OurService(const Snapshot& now);

struct PodShape {
  PodPhase phase = PodPhase::kRunning;
  int32_t number = 1;
  std::optional<int32_t> exit_code;
  std::string exit_reason;
  std::string termination_message;
};
// A pod of the snapshot's job, on node "node-a". An ended one ran for a second up to `now`.
Pod PodOf(const Snapshot& now, Role role, int32_t index, PodShape shape = {});
// What an API server shows of a pod right after it was made from `spec`.
Pod PodFromSpec(const PodSpec& spec, const std::string& uid);

LedgerReplica& EntryOf(Snapshot& now, Role role, int32_t index);

template <typename T>
std::vector<T> StepsOf(const Plan& plan) {
  std::vector<T> out;
  for (const Step& step : plan.steps) {
    if (const T* found = std::get_if<T>(&step)) out.push_back(*found);
  }
  return out;
}

// Writes what the plan wants to have written, and gives the plan that follows.
Plan Follow(Snapshot& now);

}  // namespace taas

#endif  // OPERATOR_PLAN_PLAN_FIXTURE_H_
