// When a status that has changed is written: at once where a person or a tool waits for it, else
// together with what changes next.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const auto delay = StatusDelay(job, plan.status, kept, &tracked.status_writes, clock);

#ifndef OPERATOR_CONTROLLER_STATUS_PACING_H_
#define OPERATOR_CONTROLLER_STATUS_PACING_H_

#include <optional>

#include "operator/api/job.h"
#include "operator/base/clock.h"
#include "operator/controller/kept_fields.h"

namespace taas {

struct StatusWrites {
  bool any = false;
  Clock::Time last{};
  std::optional<Clock::Time> waiting_since;  // Since when there is something to write, not at once.
};

// Whether a write of `wanted` would change what the server keeps.
bool StatusDiffers(const Job& job, const JobStatus& wanted, const KeptFields& kept);

// What was decided about `job` (a decision, not a count) is written without delay; zero or less:
// now. Nothing: `wanted` is what stands there. Begins or ends the wait in `writes`.
std::optional<Clock::Duration> StatusDelay(const Job& job, const JobStatus& wanted,
                                           const KeptFields& kept, StatusWrites* writes,
                                           const Clock& clock);

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_STATUS_PACING_H_
