#include "operator/plan/other_controller.h"

#include <algorithm>

#include "operator/plan/limits.h"

namespace taas {
namespace {

// Training-operator writes the status of a new job after its pods, of which it makes some dozens in
// this time at its defaults.
constexpr std::chrono::seconds kOtherControllerTime{10};

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

std::optional<Clock::WallTime> WaitsForOtherUntil(const Snapshot& snapshot) {
  const Job& job = snapshot.job;
  if (!snapshot.other_controller_about || snapshot.adopt || job.kind != JobKind::kTfJob) return {};
  if (job.ledger.has_value() || !job.meta.creation_time.has_value()) return {};
  const Clock::WallTime until = *job.meta.creation_time + kOtherControllerTime;
  // By a clock that is ahead of ours it would be waited for as long as that is.
  if (*job.meta.creation_time > snapshot.now + kClockSkewMax) return {};
  if (snapshot.now >= until) return {};
  return until;
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
