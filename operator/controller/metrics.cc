#include "operator/controller/metrics.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "operator/api/dialect.h"
#include "prometheus/counter.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"
#include "prometheus/text_serializer.h"

namespace taas {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

double Seconds(Clock::Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string KindName(JobKind kind) { return std::string(DialectOf(kind).kind_name); }

const char* VerbName(Verb verb) {
  switch (verb) {
    case Verb::kGet:
      return "GET";
    case Verb::kPost:
      return "POST";
    case Verb::kPut:
      return "PUT";
    case Verb::kPatch:
      return "PATCH";
    case Verb::kDelete:
      return "DELETE";
  }
  return "";
}

// The library takes no negative steps.
void Move(Gauge& gauge, int64_t by) {
  if (by < 0) {
    gauge.Decrement(static_cast<double>(-by));
  } else {
    gauge.Increment(static_cast<double>(by));
  }
}

// From a plan of nothing to a job of a thousand pods.
Histogram::BucketBoundaries ReconcileBuckets() {
  return {0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60};
}
// From the target for a first pod (10 ms) to a crowded cluster.
Histogram::BucketBoundaries LaunchBuckets() {
  return {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600};
}

}  // namespace

// Of all jobs of a kind. Kept as whole numbers, since sums of others would not come back to 0.
struct Metrics::GpuTotals {
  GpuSums sums;
  std::multiset<int64_t> hottest_c;  // Of each job that tells of some.
};

struct Metrics::Families {
  prometheus::Registry registry;
  std::mutex sums_mutex;
  std::map<JobKind, GpuTotals> gpus;
  std::map<JobKind, RankSums> ranks;
  std::mutex waiting_mutex;
  std::map<JobKind, std::multiset<Clock::WallTime>> waiting_since;  // Of each job that waits.
  Family<Gauge>& jobs =
      BuildGauge().Name("taas_jobs").Help("Jobs by kind and state.").Register(registry);
  Family<Gauge>& gpus_requested = BuildGauge()
                                      .Name("taas_gpus_requested")
                                      .Help("GPUs that unfinished jobs ask for, by kind.")
                                      .Register(registry);
  Family<Gauge>& gpus_held = BuildGauge()
                                 .Name("taas_gpus_held")
                                 .Help("GPUs of pods that have not ended, by kind of job.")
                                 .Register(registry);
  Family<Gauge>& gpus_measured = BuildGauge()
                                     .Name("taas_gpus_measured")
                                     .Help("GPUs of which trainers tell how busy they are.")
                                     .Register(registry);
  Family<Gauge>& gpus_busy = BuildGauge()
                                 .Name("taas_gpus_busy")
                                 .Help("The shares of time in which they compute, added up.")
                                 .Register(registry);
  Family<Gauge>& gpu_memory_used = BuildGauge()
                                       .Name("taas_gpu_memory_used_bytes")
                                       .Help("Memory of these GPUs that is used.")
                                       .Register(registry);
  Family<Gauge>& gpu_memory = BuildGauge()
                                  .Name("taas_gpu_memory_bytes")
                                  .Help("Memory of these GPUs.")
                                  .Register(registry);
  Family<Gauge>& gpu_power = BuildGauge()
                                 .Name("taas_gpu_power_watts")
                                 .Help("What these GPUs draw.")
                                 .Register(registry);
  Family<Gauge>& gpu_power_limit = BuildGauge()
                                       .Name("taas_gpu_power_limit_watts")
                                       .Help("The most that these GPUs may draw.")
                                       .Register(registry);
  Family<Gauge>& gpu_hottest = BuildGauge()
                                   .Name("taas_gpu_temperature_celsius_max")
                                   .Help("The hottest of these GPUs.")
                                   .Register(registry);
  Family<Gauge>& gpus_throttled = BuildGauge()
                                      .Name("taas_gpus_throttled")
                                      .Help("GPUs that are slowed down, by reason.")
                                      .Register(registry);
  Family<Gauge>& gpu_ecc_errors =
      BuildGauge()
          .Name("taas_gpu_ecc_errors")
          .Help("Memory errors of these GPUs that could not be corrected, since their reset.")
          .Register(registry);
  Family<Gauge>& gpus_with_ecc_errors = BuildGauge()
                                            .Name("taas_gpus_with_ecc_errors")
                                            .Help("GPUs that have had such errors.")
                                            .Register(registry);
  Family<Gauge>& ranks_measured =
      BuildGauge()
          .Name("taas_ranks_measured")
          .Help("Ranks of all-reduces that tell what their time goes to.")
          .Register(registry);
  Family<Gauge>& rank_time = BuildGauge()
                                 .Name("taas_rank_time_shares")
                                 .Help("The shares of their time, added up, by part of a step.")
                                 .Register(registry);
  Family<Gauge>& rank_bytes = BuildGauge()
                                  .Name("taas_rank_step_bytes")
                                  .Help("What these ranks send for one step, added up.")
                                  .Register(registry);
  Family<Gauge>& jobs_with_slowest =
      BuildGauge()
          .Name("taas_jobs_with_slowest_rank")
          .Help("Jobs of which one rank is notably slower than another.")
          .Register(registry);
  Family<Gauge>& pending = BuildGauge()
                               .Name("taas_job_pending_seconds_max")
                               .Help("How long the job that waits longest has waited for its pods.")
                               .Register(registry);
  Family<Counter>& restarts = BuildCounter()
                                  .Name("taas_restarts_total")
                                  .Help("Restarts of replicas, by kind of job and cause.")
                                  .Register(registry);
  Family<Counter>& requests = BuildCounter()
                                  .Name("taas_api_requests_total")
                                  .Help("Requests to the API server by verb and code; 0: no reply.")
                                  .Register(registry);
  Gauge& hands_off = BuildGauge()
                         .Name("taas_tfjobs_of_another_controller")
                         .Help("TFJobs left alone, since another controller is at work on them.")
                         .Register(registry)
                         .Add({});
  Gauge& queue_depth = BuildGauge()
                           .Name("taas_queue_depth")
                           .Help("Jobs that wait to be looked at.")
                           .Register(registry)
                           .Add({});
  Gauge& leader = BuildGauge()
                      .Name("taas_operator_leader")
                      .Help("Whether this process keeps the jobs going (1) or stands by (0).")
                      .Register(registry)
                      .Add({});
  Histogram& reconcile = BuildHistogram()
                             .Name("taas_reconcile_seconds")
                             .Help("From looking at a job to the last reply to its writes.")
                             .Register(registry)
                             .Add({}, ReconcileBuckets());
  Histogram& first_pod = BuildHistogram()
                             .Name("taas_first_pod_seconds")
                             .Help("From a job's creation or resumption until it has a pod.")
                             .Register(registry)
                             .Add({}, LaunchBuckets());
  Histogram& all_pods = BuildHistogram()
                            .Name("taas_all_pods_seconds")
                            .Help("From a job's creation or resumption until all its pods run.")
                            .Register(registry)
                            .Add({}, LaunchBuckets());
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {}
Metrics::~Metrics() = default;

std::string Metrics::Text(Clock::WallTime now) const {
  {
    const std::lock_guard lock(families_->waiting_mutex);
    for (const auto& [kind, since] : families_->waiting_since) {
      const Clock::WallTime first = since.empty() ? now : *since.begin();
      // The machine's clock may have been set back.
      families_->pending.Add({{"kind", KindName(kind)}}).Set(std::max(0.0, Seconds(now - first)));
    }
  }
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

void Metrics::MoveJob(JobKind kind, const JobState* before, const JobState* after) {
  const auto gauge = [this, kind](JobState state) -> Gauge& {
    return families_->jobs.Add(
        {{"kind", KindName(kind)}, {"state", std::string(JobStateName(state))}});
  };
  if (before != nullptr) gauge(*before).Decrement();
  if (after != nullptr) gauge(*after).Increment();
}

void Metrics::MoveGpus(JobKind kind, int64_t requested, int64_t held) {
  Move(families_->gpus_requested.Add({{"kind", KindName(kind)}}), requested);
  Move(families_->gpus_held.Add({{"kind", KindName(kind)}}), held);
}

void Metrics::MoveGpuSums(JobKind kind, const GpuSums& before, const GpuSums& after) {
  const std::lock_guard lock(families_->sums_mutex);
  GpuTotals& totals = families_->gpus[kind];
  totals.sums -= before;
  totals.sums += after;
  if (before.hottest_c.has_value()) {
    totals.hottest_c.erase(totals.hottest_c.find(*before.hottest_c));
  }
  if (after.hottest_c.has_value()) totals.hottest_c.insert(*after.hottest_c);
  ShowGpus(kind, totals);
}

void Metrics::ShowGpus(JobKind kind, const GpuTotals& totals) {
  constexpr double kMib = 1024.0 * 1024;
  const GpuSums& sums = totals.sums;
  const std::string name = KindName(kind);
  const auto show = [&name](Family<Gauge>& family, double value) {
    family.Add({{"kind", name}}).Set(value);
  };
  show(families_->gpus_measured, static_cast<double>(sums.measured));
  show(families_->gpus_busy, static_cast<double>(sums.busy_thousandths) / 1000);
  show(families_->gpu_memory_used, static_cast<double>(sums.memory_used_mib) * kMib);
  show(families_->gpu_memory, static_cast<double>(sums.memory_total_mib) * kMib);
  show(families_->gpu_power, static_cast<double>(sums.power_milliwatts) / 1000);
  show(families_->gpu_power_limit, static_cast<double>(sums.power_limit_milliwatts) / 1000);
  show(families_->gpu_ecc_errors, static_cast<double>(sums.ecc_errors));
  show(families_->gpus_with_ecc_errors, static_cast<double>(sums.with_ecc_errors));
  for (size_t i = 0; i < kGpuThrottles.size(); ++i) {
    families_->gpus_throttled.Add({{"kind", name}, {"reason", std::string(kGpuThrottles[i])}})
        .Set(static_cast<double>(sums.throttled[i]));
  }
  Gauge& hottest = families_->gpu_hottest.Add({{"kind", name}});
  if (totals.hottest_c.empty()) {
    families_->gpu_hottest.Remove(&hottest);  // Of none there is no temperature.
  } else {
    hottest.Set(static_cast<double>(*totals.hottest_c.rbegin()));
  }
}

void Metrics::MoveRankSums(JobKind kind, const RankSums& before, const RankSums& after) {
  const std::lock_guard lock(families_->sums_mutex);
  RankSums& sums = families_->ranks[kind];
  sums -= before;
  sums += after;
  const std::string name = KindName(kind);
  families_->ranks_measured.Add({{"kind", name}}).Set(static_cast<double>(sums.ranks));
  families_->rank_bytes.Add({{"kind", name}}).Set(static_cast<double>(sums.bytes_per_step));
  families_->jobs_with_slowest.Add({{"kind", name}})
      .Set(static_cast<double>(sums.jobs_with_slowest));
  const std::pair<const char*, int64_t> parts[] = {{"compute", sums.compute_thousandths},
                                                   {"wait", sums.wait_thousandths},
                                                   {"exchange", sums.exchange_thousandths},
                                                   {"hiddenExchange", sums.hidden_thousandths}};
  for (const auto& [part, thousandths] : parts) {
    families_->rank_time.Add({{"kind", name}, {"part", part}})
        .Set(static_cast<double>(thousandths) / 1000);
  }
}

void Metrics::MoveWaiting(JobKind kind, std::optional<Clock::WallTime> before,
                          std::optional<Clock::WallTime> after) {
  const std::lock_guard lock(families_->waiting_mutex);
  std::multiset<Clock::WallTime>& since = families_->waiting_since[kind];
  if (before.has_value()) since.erase(since.find(*before));
  if (after.has_value()) since.insert(*after);
}

void Metrics::AddHandsOff(int jobs) { Move(families_->hands_off, jobs); }

void Metrics::CountRestart(JobKind kind, RestartCause cause, int count) {
  families_->restarts
      .Add({{"kind", KindName(kind)}, {"cause", std::string(RestartCauseName(cause))}})
      .Increment(count);
}

void Metrics::ObserveReconcile(Clock::Duration took) {
  families_->reconcile.Observe(Seconds(took));
}

void Metrics::ObserveFirstPod(Clock::Duration since_creation) {
  families_->first_pod.Observe(Seconds(since_creation));
}

void Metrics::ObserveAllPods(Clock::Duration since_creation) {
  families_->all_pods.Observe(Seconds(since_creation));
}

void Metrics::SetQueueDepth(size_t depth) {
  families_->queue_depth.Set(static_cast<double>(depth));
}

void Metrics::SetLeader(bool leads) { families_->leader.Set(leads ? 1 : 0); }

void Metrics::CountRequest(Verb verb, int code) {
  families_->requests.Add({{"verb", VerbName(verb)}, {"code", std::to_string(code)}}).Increment();
}

void CountingTransport::Do(HttpRequest request, OnReply done) {
  const Verb verb = request.verb;
  inner_.Do(std::move(request),
            [this, verb, done = std::move(done)](absl::StatusOr<HttpReply> reply) {
              metrics_.CountRequest(verb, reply.ok() ? reply->code : 0);
              done(std::move(reply));
            });
}

std::unique_ptr<KubeTransport::StreamHandle> CountingTransport::Stream(HttpRequest request,
                                                                       StreamCalls calls) {
  calls.opened = [this, verb = request.verb, opened = std::move(calls.opened)](int code) {
    metrics_.CountRequest(verb, code);
    opened(code);
  };
  return inner_.Stream(std::move(request), std::move(calls));
}

}  // namespace taas
