#include "operator/controller/job_metrics.h"

#include <algorithm>

namespace taas {
namespace {

// Of a creation the API server tells the second only.
constexpr std::chrono::seconds kCreationTick{1};

// The machine's clock may have been set back.
Clock::Duration Since(Clock::WallTime begun, Clock::WallTime now) {
  return std::max<Clock::Duration>(now - begun, Clock::Duration::zero());
}

bool AllRun(const JobStatus& status) {
  if (status.state != JobState::kRunning) return false;
  return std::all_of(status.replica_statuses.begin(), status.replica_statuses.end(),
                     [](const auto& entry) {
                       const ReplicaStatus& role = entry.second;
                       return role.ready + role.succeeded + role.failed >= role.desired;
                     });
}

bool AsksForPods(JobState state) {
  return state == JobState::kPending || state == JobState::kRunning ||
         state == JobState::kRestarting;
}

}  // namespace

void JobMetrics::Hear(const Job& job, Clock::WallTime heard) {
  if (job.ledger.has_value() || job.status.start_time.has_value()) return;
  launching_since_ = heard;
  if (!job.meta.creation_time.has_value()) return;
  launching_since_ = std::min(heard, *job.meta.creation_time + kCreationTick);
}

void JobMetrics::SetState(Metrics& metrics, const JobScope& scope, JobState state,
                          Clock::WallTime now) {
  if (state_ == state) return;
  metrics.MoveJob(scope, state_.has_value() ? &*state_ : nullptr, &state);
  if (state == JobState::kSuspended) {
    launching_since_.reset();
  } else if (state_ == JobState::kSuspended) {
    launching_since_ = now;
    has_pod_ = false;
  }
  scope_ = scope;
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
  metrics.MoveGpus(ScopeOf(job), requested - gpus_requested_, held - gpus_held_);
  scope_ = ScopeOf(job);
  gpus_requested_ = requested;
  gpus_held_ = held;
}

void JobMetrics::SetGpuSums(Metrics& metrics, const Job& job, const JobStatus& status,
                            const GpuSums* told) {
  const GpuSums now = told != nullptr && AsksForPods(status.state) ? *told : GpuSums();
  if (now == gpu_sums_) return;
  metrics.MoveGpuSums(ScopeOf(job), gpu_sums_, now);
  scope_ = ScopeOf(job);
  gpu_sums_ = now;
}

void JobMetrics::SetRankTimes(Metrics& metrics, const Job& job, const JobStatus& status,
                              const RankTimes* told) {
  const RankSums now = told != nullptr && AsksForPods(status.state) ? SumOf(*told) : RankSums();
  if (now == rank_sums_) return;
  metrics.MoveRankSums(ScopeOf(job), rank_sums_, now);
  scope_ = ScopeOf(job);
  rank_sums_ = now;
}

void JobMetrics::SetWaiting(Metrics& metrics, const JobScope& scope, const JobStatus& status,
                            Clock::WallTime now) {
  std::optional<Clock::WallTime> since;
  if (AsksForPods(status.state) && !AllRun(status)) {
    since = waiting_since_;
    if (!since.has_value()) since = launching_since_;
    // Begun under an earlier operator: the start, or the last time that it was resumed.
    if (!since.has_value() && status.state == JobState::kPending) since = status.start_time;
    if (!since.has_value()) since = now;
  }
  if (since == waiting_since_) return;
  metrics.MoveWaiting(scope, waiting_since_, since);
  scope_ = scope;
  waiting_since_ = since;
}

void JobMetrics::Leave(Metrics& metrics) {
  if (rank_sums_ != RankSums()) metrics.MoveRankSums(scope_, rank_sums_, {});
  rank_sums_ = {};
  if (waiting_since_.has_value()) metrics.MoveWaiting(scope_, waiting_since_, std::nullopt);
  waiting_since_.reset();
  if (gpu_sums_ != GpuSums()) metrics.MoveGpuSums(scope_, gpu_sums_, {});
  gpu_sums_ = {};
  if (gpus_requested_ != 0 || gpus_held_ != 0) {
    metrics.MoveGpus(scope_, -gpus_requested_, -gpus_held_);
  }
  gpus_requested_ = gpus_held_ = 0;
  if (state_.has_value()) metrics.MoveJob(scope_, &*state_, nullptr);
  state_.reset();
}

void JobMetrics::PodMade(Metrics& metrics, Clock::WallTime now) {
  if (launching_since_.has_value() && !has_pod_) {
    metrics.ObserveFirstPod(Since(*launching_since_, now));
  }
  has_pod_ = true;
}

void JobMetrics::Launched(Metrics& metrics, const JobStatus& status, Clock::WallTime now) {
  if (!launching_since_.has_value() || !has_pod_ || !AllRun(status)) return;
  metrics.ObserveAllPods(Since(*launching_since_, now));
  launching_since_.reset();
}

void CountRestarts(Metrics& metrics, const Job& job, const Ledger& written) {
  if (!job.ledger.has_value()) return;
  for (const auto& [cause, count] : written.restarts) {
    const auto old = job.ledger->restarts.find(cause);
    const int32_t more = count - (old == job.ledger->restarts.end() ? 0 : old->second);
    if (more > 0) metrics.CountRestart(ScopeOf(job), cause, more);
  }
}

}  // namespace taas
