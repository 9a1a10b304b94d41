#include "operator/controller/job_metrics.h"

#include <algorithm>

namespace taas {
namespace {

// The clocks of API server and operator may differ.
Clock::Duration Since(Clock::WallTime created, Clock::WallTime now) {
  return std::max<Clock::Duration>(now - created, Clock::Duration::zero());
}

}  // namespace

void JobMetrics::SetState(Metrics& metrics, JobKind kind, JobState state) {
  if (state_ == state) return;
  metrics.MoveJob(kind, state_.has_value() ? &*state_ : nullptr, &state);
  kind_ = kind;
  state_ = state;
}

void JobMetrics::Leave(Metrics& metrics) {
  if (state_.has_value()) metrics.MoveJob(kind_, &*state_, nullptr);
  state_.reset();
}

void JobMetrics::PodsMade(Metrics& metrics, const Job& job, Clock::WallTime now) {
  if (first_pod_ || !job.meta.creation_time.has_value()) return;
  first_pod_ = true;
  if (job.status.start_time.has_value()) return;  // The operator came back in the middle.
  metrics.ObserveFirstPod(Since(*job.meta.creation_time, now));
}

void JobMetrics::AllRun(Metrics& metrics, const Job& job, Clock::WallTime now) {
  if (all_pods_) return;
  all_pods_ = true;
  if (job.status.state != JobState::kPending || !job.meta.creation_time.has_value()) return;
  metrics.ObserveAllPods(Since(*job.meta.creation_time, now));
}

void CountRestarts(Metrics& metrics, const Job& job, const Ledger& written) {
  if (!job.ledger.has_value()) return;
  for (const auto& [cause, count] : written.restarts) {
    const auto old = job.ledger->restarts.find(cause);
    const int32_t more = count - (old == job.ledger->restarts.end() ? 0 : old->second);
    if (more > 0) metrics.CountRestart(job.kind, cause, more);
  }
}

}  // namespace taas
