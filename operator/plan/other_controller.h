// Another controller at work on a TFJob: then this one keeps its hands off, unless it was told to
// take over.
//
// Two controllers that do not know of each other would each delete what the other made. The API
// server notes who wrote which status when, so a job tells by itself; no lease has to be read, and
// one that holds none is noticed, too (docs/design/0008-another-controller.md).
//
// Ownership: values. Threads: any. Errors: none.
//
//   const std::string why = WhyHandsOff(snapshot);

#ifndef OPERATOR_PLAN_OTHER_CONTROLLER_H_
#define OPERATOR_PLAN_OTHER_CONTROLLER_H_

#include <string>

#include "operator/plan/snapshot.h"

namespace taas {

// A sentence; empty: the job is ours.
std::string WhyHandsOff(const Snapshot& snapshot);

// Where another controller is about it may take a new job as well, which it says in the job's
// status: until when that is waited for.
std::optional<Clock::WallTime> WaitsForOtherUntil(const Snapshot& snapshot);

// It ran to its end under another controller, and nothing is left to be done.
bool EndedElsewhere(const Snapshot& snapshot);

// The time up to which what the other one wrote does not count any more; nothing: it all counts.
std::optional<Clock::WallTime> TakenOver(const Snapshot& snapshot);

}  // namespace taas

#endif  // OPERATOR_PLAN_OTHER_CONTROLLER_H_
