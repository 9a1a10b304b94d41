// What one job adds to the metrics over its life: its state, its restarts, how long its launch
// took.
//
// Ownership: value type; what it has counted of a job goes with Leave. Threads: the executor's
// only. Errors: none.
//
//   tracked.counted.SetState(metrics, job.kind, plan.status.state);

#ifndef OPERATOR_CONTROLLER_JOB_METRICS_H_
#define OPERATOR_CONTROLLER_JOB_METRICS_H_

#include <cstdint>
#include <optional>

#include "operator/api/job.h"
#include "operator/base/clock.h"
#include "operator/controller/metrics.h"

namespace taas {

class JobMetrics {
 public:
  void SetState(Metrics& metrics, JobKind kind, JobState state);
  // What it asks for, and what its pods hold by `status`.
  void SetGpus(Metrics& metrics, const Job& job, const JobStatus& status);
  void Leave(Metrics& metrics);

  // The first pods of `job` were made. A job that began under an earlier operator is not measured.
  void PodsMade(Metrics& metrics, const Job& job, Clock::WallTime now);
  // All replicas run now; `job` is as it was before.
  void AllRun(Metrics& metrics, const Job& job, Clock::WallTime now);

 private:
  JobKind kind_ = JobKind::kTrainingJob;
  std::optional<JobState> state_;
  int64_t gpus_requested_ = 0;
  int64_t gpus_held_ = 0;
  bool first_pod_ = false;
  bool all_pods_ = false;
};

// Those that `written` has and the stored ledger of `job` had not.
void CountRestarts(Metrics& metrics, const Job& job, const Ledger& written);

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_JOB_METRICS_H_
