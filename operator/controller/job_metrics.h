// What one job adds to the metrics over its life: its state, its restarts, how long its launch
// took.
//
// Ownership: value type; what it has counted of a job goes with Leave. Threads: the executor's
// only. Errors: none.
//
//   tracked.counted.SetState(metrics, ScopeOf(job), plan.status.state, now);

#ifndef OPERATOR_CONTROLLER_JOB_METRICS_H_
#define OPERATOR_CONTROLLER_JOB_METRICS_H_

#include <cstdint>
#include <optional>

#include "operator/api/job.h"
#include "operator/base/clock.h"
#include "operator/controller/metrics.h"
#include "operator/plan/gpu_sums.h"
#include "operator/plan/rank_times.h"

namespace taas {

inline JobScope ScopeOf(const Job& job) { return {job.kind, job.meta.ns}; }

class JobMetrics {
 public:
  // The first that is said of a job. A launch is measured where nobody has begun the job yet, and
  // when it is resumed; one that another operator or controller began is not.
  void Hear(const Job& job, Clock::WallTime heard);
  void SetState(Metrics& metrics, const JobScope& scope, JobState state, Clock::WallTime now);
  // What it asks for, and what its pods hold by `status`.
  void SetGpus(Metrics& metrics, const Job& job, const JobStatus& status);
  // What its trainers tell of them; null: nothing.
  void SetGpuSums(Metrics& metrics, const Job& job, const JobStatus& status, const GpuSums* told);
  // What its ranks tell of their time; null: nothing.
  void SetRankTimes(Metrics& metrics, const Job& job, const JobStatus& status,
                    const RankTimes* told);
  // Since when it waits for some of its pods, also while it trains without them. Call it after
  // Launched, of jobs that are ours to begin.
  void SetWaiting(Metrics& metrics, const JobScope& scope, const JobStatus& status,
                  Clock::WallTime now);
  void Leave(Metrics& metrics);

  // The API server has answered that a pod exists.
  void PodMade(Metrics& metrics, Clock::WallTime now);
  // Measures the launch when all replicas run by `status`, or have ended.
  void Launched(Metrics& metrics, const JobStatus& status, Clock::WallTime now);

 private:
  JobScope scope_;
  std::optional<JobState> state_;
  int64_t gpus_requested_ = 0;
  int64_t gpus_held_ = 0;
  GpuSums gpu_sums_;
  RankSums rank_sums_;
  std::optional<Clock::WallTime> launching_since_;  // Until all run.
  std::optional<Clock::WallTime> waiting_since_;    // For pods; nothing: all run.
  bool has_pod_ = false;  // Of this launch.
};

// Those that `written` has and the stored ledger of `job` had not.
void CountRestarts(Metrics& metrics, const Job& job, const Ledger& written);

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_JOB_METRICS_H_
