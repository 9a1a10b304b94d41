#include "operator/plan/other_controller.h"

#include <algorithm>

namespace taas {
namespace {

bool HasEnded(const JobStatus& status) {
  return status.state == JobState::kSucceeded || status.state == JobState::kFailed;
}

}  // namespace

std::optional<Clock::WallTime> TakenOver(const Snapshot& snapshot) {
  const Job& job = snapshot.job;
  std::optional<Clock::WallTime> until;
  if (job.ledger.has_value()) until = job.ledger->taken_over;
  if (snapshot.adopt && job.other_controller.has_value()) {
    until = std::max(until.value_or(Clock::WallTime::min()), job.other_controller->wrote_at);
  }
  return until;
}

bool EndedElsewhere(const Snapshot& snapshot) {
  const Job& job = snapshot.job;
  return job.other_controller.has_value() && !snapshot.adopt && !job.ledger.has_value() &&
         HasEnded(job.status);
}

std::string WhyHandsOff(const Snapshot& snapshot) {
  const Job& job = snapshot.job;
  if (job.kind != JobKind::kTfJob || !job.other_controller.has_value()) return "";
  if (job.ledger.has_value() && job.ledger->outcome.has_value()) return "";
  if (EndedElsewhere(snapshot)) return "";
  const auto until = TakenOver(snapshot);
  if (until.has_value() && job.other_controller->wrote_at <= *until) return "";
  return "another controller of TFJobs, " + job.other_controller->name +
         ", wrote the status of this one at " + FormatRfc3339(job.other_controller->wrote_at) +
         ", so nothing is done for it: stop that one and start this operator with --adopt";
}

}  // namespace taas
