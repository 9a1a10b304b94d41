// The one sentence on why a job makes no progress: the worst pod and its reason.
//
// Ownership: values. Threads: any. Errors: none.
//
//   status.message = WhyNoProgress(snapshot, ledger);  // Empty: there is progress.

#ifndef OPERATOR_PLAN_MESSAGE_H_
#define OPERATOR_PLAN_MESSAGE_H_

#include <string>
#include <vector>

#include "operator/plan/snapshot.h"

namespace taas {

// What is in the way of some replicas and may need a person: for an event.
struct Hindrance {
  std::string cause;    // Of one cause the words may change.
  std::string reason;   // CamelCase, as Kubernetes has it: Unschedulable, ImagePullBackOff, …
  std::string message;  // "worker-1 (and 1 more) cannot be scheduled: …"

  bool operator==(const Hindrance&) const = default;
};

// `hindrances`: gets one for each cause, if it is not null.
std::string WhyNoProgress(const Snapshot& snapshot, const Ledger& ledger,
                          std::vector<Hindrance>* hindrances = nullptr);

// The replica that is worst off and its reason: "worker-1 (and 1 more) cannot be scheduled: …".
// Empty: all run. It may be kept: which pods of an earlier template are still there is left out.
std::string WorstReplica(const Snapshot& snapshot, const Ledger& ledger);

// Of one pod by itself: "cannot be scheduled: …", "is starting". Empty: it runs.
std::string WhyPodWaits(const Pod& pod);

}  // namespace taas

#endif  // OPERATOR_PLAN_MESSAGE_H_
