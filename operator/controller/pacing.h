// When a change of a job is looked at, and when what is to be said of it is written: one table.
//
// Pods start and end together, so a moment's wait saves looks and requests; a decision is told at
// once, ahead of whatever else there is to write. While many jobs are being launched the rest of
// what statuses tell, which nobody waits for, yields to the making of pods.
//
// Ownership: values. Threads: any. Errors: none.
//
//   queue.AddAfter(key, PaceOf(Change::kPodsMove).gather);
//   const auto turn = TurnOfStatus(job, plan.status, kept, {clock, launching}, &writes);

#ifndef OPERATOR_CONTROLLER_PACING_H_
#define OPERATOR_CONTROLLER_PACING_H_

#include <cstddef>
#include <optional>

#include "operator/api/job.h"
#include "operator/base/clock.h"
#include "operator/controller/kept_fields.h"

namespace taas {

enum class Change {
  // To be looked at.
  kAny,       // Of the job, or of a pod that is in trouble.
  kPodsMove,  // A pod starts, or ends as it should: the like of it soon happens to others.
  // To be written.
  kDecision,    // The job's state, a restart, its end: somebody may wait for it.
  kFirstWords,  // That the job is known at all.
  kCounts,      // How many pods there are, where they are, the message.
  kProgress,    // What the trainer says, from the second time on.
};

struct Pace {
  Clock::Duration gather{};   // From the first change on, for those that follow it.
  Clock::Duration spacing{};  // From the write before.
  // While jobs are being launched: until none is, so long at most from the first change on.
  Clock::Duration yield{};
};
Pace PaceOf(Change change);

// For so long a job is left alone after a look at so many pods.
Clock::Duration RestAfter(size_t pods);

// What of a job's status was written, and waits to be.
struct StatusWrites {
  bool any = false;
  Clock::Time last{};
  std::optional<Clock::Time> waiting_since;  // Since when there is something to write.
};

struct StatusTurn {
  Clock::Duration delay{};  // Zero or less: now. Then it is decided anew.
  bool decision = false;
};

struct Circumstances {
  const Clock& clock;
  bool launching = false;  // Jobs wait for their first pods.
};

// Whether a write of `wanted` would change what the server keeps.
bool StatusDiffers(const Job& job, const JobStatus& wanted, const KeptFields& kept);

// Nothing: `wanted` is what stands there. Begins or ends the wait in `writes`.
std::optional<StatusTurn> TurnOfStatus(const Job& job, const JobStatus& wanted,
                                       const KeptFields& kept, const Circumstances& now,
                                       StatusWrites* writes);

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_PACING_H_
