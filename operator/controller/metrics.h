// What the operator counts about itself and its jobs, as Prometheus reads it.
//
// Ownership: owns its registry. Threads: all methods are safe from any thread. Errors: none.
//
//   Metrics metrics;
//   metrics.CountRestart({JobKind::kTfJob, "team-a"}, RestartCause::kKilled, 1);
//   Serve(metrics.Text());

#ifndef OPERATOR_CONTROLLER_METRICS_H_
#define OPERATOR_CONTROLLER_METRICS_H_

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "operator/api/job.h"
#include "operator/base/clock.h"
#include "operator/base/executor.h"
#include "operator/kube/transport.h"
#include "operator/plan/gpu_sums.h"
#include "operator/plan/rank_times.h"

namespace taas {

// Whose jobs a series is about. There are as many series as there are such pairs with jobs: with
// the last job of a pair they go.
struct JobScope {
  JobKind kind = JobKind::kTrainingJob;
  std::string ns;
  auto operator<=>(const JobScope&) const = default;
};

class Metrics {
 public:
  Metrics();
  ~Metrics();

  // Prometheus' text format 0.0.4. `now`: for durations that go on.
  std::string Text(Clock::WallTime now = {}) const;

  // Null: not there.
  void MoveJob(const JobScope& scope, const JobState* before, const JobState* after);
  // By how much more; negative: less.
  void MoveGpus(const JobScope& scope, int64_t requested, int64_t held);
  // What the trainers of one job tell of their GPUs, in the place of what they told before; of a
  // job that is over {}.
  void MoveGpuSums(const JobScope& scope, const GpuSums& before, const GpuSums& after);
  // What the ranks of one all-reduce tell of their time, likewise.
  void MoveRankSums(const JobScope& scope, const RankSums& before, const RankSums& after);
  // Since when one job waits for pods, in the place of what was said of it before.
  void MoveWaiting(const JobScope& scope, std::optional<Clock::WallTime> before,
                   std::optional<Clock::WallTime> after);
  void AddHandsOff(int jobs);  // TFJobs that another controller is at work on.
  void CountRestart(const JobScope& scope, RestartCause cause, int count);
  void ObserveReconcile(Clock::Duration took);
  void ObserveFirstPod(Clock::Duration since_creation);
  void ObserveAllPods(Clock::Duration since_creation);
  void SetQueueDepth(size_t depth);
  void SetLeader(bool leads);
  void CountRequest(Verb verb, int code);  // 0: no reply.

 private:
  struct Families;
  struct Totals;
  void ShowGpus(const JobScope& scope, Totals& totals);

  const std::unique_ptr<Families> families_;
};

// Counts what goes through another transport.
class CountingTransport : public KubeTransport {
 public:
  CountingTransport(KubeTransport& inner, Metrics& metrics) : inner_(inner), metrics_(metrics) {}
  void Do(HttpRequest request, OnReply done) override;
  std::unique_ptr<StreamHandle> Stream(HttpRequest request, StreamCalls calls) override;

 private:
  KubeTransport& inner_;
  Metrics& metrics_;
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_METRICS_H_
