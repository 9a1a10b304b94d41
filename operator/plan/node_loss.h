// Pods whose node has gone: the API server keeps such a pod, being deleted, until its node says
// that it has ended, and that node never will.
//
// Ownership: values. Threads: any. Errors: none.
//
//   if (const auto from = StuckFrom(snapshot, pod); from.has_value() && now >= *from) Force(pod);

#ifndef OPERATOR_PLAN_NODE_LOSS_H_
#define OPERATOR_PLAN_NODE_LOSS_H_

#include <optional>

#include "operator/plan/snapshot.h"

namespace taas {

// From when on nobody but us ends the deletion of this pod; nothing: it is not being deleted, its
// node or the scheduler will end it, or only a finalizer keeps it. Its node has all of the pod's
// grace from when we first saw the deletion, whatever the clocks of others say: whoever comes to
// lead may be late, but nobody is early.
std::optional<Clock::WallTime> StuckFrom(const Snapshot& snapshot, const Pod& pod);

}  // namespace taas

#endif  // OPERATOR_PLAN_NODE_LOSS_H_
