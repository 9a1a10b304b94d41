#include "operator/controller/job_metrics.h"

#include <algorithm>

namespace taas {
namespace {

// The clocks of API server and operator may differ.
Clock::Duration Since(Clock::WallTime created, Clock::WallTime now) {
  return std::max<Clock::Duration>(now - created, Clock::Duration::zero());
}

bool AsksForPods(JobState state) {
  return state == JobState::kPending || state == JobState::kRunning ||
         state == JobState::kRestarting;
}

}  // namespace

void JobMetrics::SetState(Metrics& metrics, JobKind kind, JobState state) {
  if (state_ == state) return;
  metrics.MoveJob(kind, state_.has_value() ? &*state_ : nullptr, &state);
  kind_ = kind;
  state_ = state;
}

void JobMetrics::SetGpus(Metrics& metrics, const Job& job, const JobStatus& status) {
  int64_t requested = 0;
  if (AsksForPods(status.state)) {
    for (const auto& [role, spec] : job.spec.roles) {
      requested += int64_t{spec.replicas} * spec.GpusHeld();
    }
  }
  const int64_t held = status.gpus;
  if (requested == gpus_requested_ && held == gpus_held_) return;
  metrics.MoveGpus(job.kind, requested - gpus_requested_, held - gpus_held_);
  kind_ = job.kind;
  gpus_requested_ = requested;
  gpus_held_ = held;
}

void JobMetrics::Leave(Metrics& metrics) {
  if (gpus_requested_ != 0 || gpus_held_ != 0) {
    metrics.MoveGpus(kind_, -gpus_requested_, -gpus_held_);
  }
  gpus_requested_ = gpus_held_ = 0;
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
