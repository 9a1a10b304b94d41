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
using prometheus::Labels;

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

// From a plan of nothing to a job of a thousand pods.
Histogram::BucketBoundaries ReconcileBuckets() {
  return {0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60};
}
// From the target for a first pod (10 ms) to a crowded cluster.
Histogram::BucketBoundaries LaunchBuckets() {
  return {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600};
}

}  // namespace

// Of all jobs of a scope. Kept as whole numbers, since sums of others would not come back to 0.
struct Metrics::Totals {
  std::map<JobState, int64_t> jobs;
  int64_t gpus_requested = 0;
  int64_t gpus_held = 0;
  GpuSums gpus;
  std::multiset<int64_t> hottest_c;  // Of each job that tells of some.
  RankSums ranks;
  std::multiset<Clock::WallTime> waiting_since;  // Of each job that waits.
  // What is shown of them, to be taken away with the last job.
  std::map<Gauge*, Family<Gauge>*> gauges;
  std::map<Counter*, Family<Counter>*> counters;

  bool Empty() const {
    return gpus_requested == 0 && gpus_held == 0 && gpus == GpuSums() && hottest_c.empty() &&
           ranks == RankSums() && waiting_since.empty() &&
           std::all_of(jobs.begin(), jobs.end(), [](const auto& one) { return one.second == 0; });
  }
};

struct Metrics::Families {
  prometheus::Registry registry;
  std::mutex mutex;
  std::map<JobScope, Totals> scopes;

  // `namespace` would be taken for the operator's, which Prometheus adds to what it scrapes.
  static Labels LabelsOf(const JobScope& scope, Labels more) {
    more.insert({{"kind", KindName(scope.kind)}, {"job_namespace", scope.ns}});
    return more;
  }
  Gauge& Of(const JobScope& scope, Family<Gauge>& family, Labels more = {}) {
    Gauge& gauge = family.Add(LabelsOf(scope, std::move(more)));
    scopes[scope].gauges.emplace(&gauge, &family);
    return gauge;
  }
  Counter& Of(const JobScope& scope, Family<Counter>& family, Labels more = {}) {
    Counter& counter = family.Add(LabelsOf(scope, std::move(more)));
    scopes[scope].counters.emplace(&counter, &family);
    return counter;
  }
  void Hide(const JobScope& scope, Gauge& gauge) {
    const auto found = scopes[scope].gauges.find(&gauge);
    found->second->Remove(found->first);
    scopes[scope].gauges.erase(found);
  }
  // Takes away what is shown of a scope that has no jobs any more.
  void Settle(const JobScope& scope) {
    const auto found = scopes.find(scope);
    if (found == scopes.end() || !found->second.Empty()) return;
    for (const auto& [gauge, family] : found->second.gauges) family->Remove(gauge);
    for (const auto& [counter, family] : found->second.counters) family->Remove(counter);
    scopes.erase(found);
  }

  Family<Gauge>& jobs =
      BuildGauge().Name("taas_jobs").Help("Jobs by state.").Register(registry);
  Family<Gauge>& gpus_requested = BuildGauge()
                                      .Name("taas_gpus_requested")
                                      .Help("GPUs that unfinished jobs ask for.")
                                      .Register(registry);
  Family<Gauge>& gpus_held = BuildGauge()
                                 .Name("taas_gpus_held")
                                 .Help("GPUs of pods that have a node and have not ended.")
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
                                  .Help("Restarts of replicas, by cause.")
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
    const std::lock_guard lock(families_->mutex);
    for (const auto& [scope, totals] : families_->scopes) {
      const auto& since = totals.waiting_since;
      const Clock::WallTime first = since.empty() ? now : *since.begin();
      // The machine's clock may have been set back.
      families_->Of(scope, families_->pending).Set(std::max(0.0, Seconds(now - first)));
    }
  }
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

void Metrics::MoveJob(const JobScope& scope, const JobState* before, const JobState* after) {
  const std::lock_guard lock(families_->mutex);
  Totals& totals = families_->scopes[scope];
  const auto move = [&](JobState state, int64_t by) {
    totals.jobs[state] += by;
    families_->Of(scope, families_->jobs, {{"state", std::string(JobStateName(state))}})
        .Set(static_cast<double>(totals.jobs[state]));
  };
  if (before != nullptr) move(*before, -1);
  if (after != nullptr) move(*after, 1);
  families_->Settle(scope);
}

void Metrics::MoveGpus(const JobScope& scope, int64_t requested, int64_t held) {
  const std::lock_guard lock(families_->mutex);
  Totals& totals = families_->scopes[scope];
  totals.gpus_requested += requested;
  totals.gpus_held += held;
  families_->Of(scope, families_->gpus_requested).Set(static_cast<double>(totals.gpus_requested));
  families_->Of(scope, families_->gpus_held).Set(static_cast<double>(totals.gpus_held));
  families_->Settle(scope);
}

void Metrics::MoveGpuSums(const JobScope& scope, const GpuSums& before, const GpuSums& after) {
  const std::lock_guard lock(families_->mutex);
  Totals& totals = families_->scopes[scope];
  totals.gpus -= before;
  totals.gpus += after;
  if (before.hottest_c.has_value()) {
    totals.hottest_c.erase(totals.hottest_c.find(*before.hottest_c));
  }
  if (after.hottest_c.has_value()) totals.hottest_c.insert(*after.hottest_c);
  ShowGpus(scope, totals);
  families_->Settle(scope);
}

void Metrics::ShowGpus(const JobScope& scope, Totals& totals) {
  constexpr double kMib = 1024.0 * 1024;
  const GpuSums& sums = totals.gpus;
  const auto number = [](int64_t value) { return static_cast<double>(value); };
  Families& f = *families_;
  f.Of(scope, f.gpus_measured).Set(number(sums.measured));
  f.Of(scope, f.gpus_busy).Set(number(sums.busy_thousandths) / 1000);
  f.Of(scope, f.gpu_memory_used).Set(number(sums.memory_used_mib) * kMib);
  f.Of(scope, f.gpu_memory).Set(number(sums.memory_total_mib) * kMib);
  f.Of(scope, f.gpu_power).Set(number(sums.power_milliwatts) / 1000);
  f.Of(scope, f.gpu_power_limit).Set(number(sums.power_limit_milliwatts) / 1000);
  f.Of(scope, f.gpu_ecc_errors).Set(number(sums.ecc_errors));
  f.Of(scope, f.gpus_with_ecc_errors).Set(number(sums.with_ecc_errors));
  for (size_t i = 0; i < kGpuThrottles.size(); ++i) {
    f.Of(scope, f.gpus_throttled, {{"reason", std::string(kGpuThrottles[i])}})
        .Set(number(sums.throttled[i]));
  }
  Gauge& hottest = f.Of(scope, f.gpu_hottest);
  if (totals.hottest_c.empty()) {
    f.Hide(scope, hottest);  // Of none there is no temperature.
  } else {
    hottest.Set(number(*totals.hottest_c.rbegin()));
  }
}

void Metrics::MoveRankSums(const JobScope& scope, const RankSums& before, const RankSums& after) {
  const std::lock_guard lock(families_->mutex);
  Families& f = *families_;
  RankSums& sums = f.scopes[scope].ranks;
  sums -= before;
  sums += after;
  f.Of(scope, f.ranks_measured).Set(static_cast<double>(sums.ranks));
  f.Of(scope, f.rank_bytes).Set(static_cast<double>(sums.bytes_per_step));
  f.Of(scope, f.jobs_with_slowest).Set(static_cast<double>(sums.jobs_with_slowest));
  const std::pair<const char*, int64_t> parts[] = {{"compute", sums.compute_thousandths},
                                                   {"wait", sums.wait_thousandths},
                                                   {"exchange", sums.exchange_thousandths},
                                                   {"hiddenExchange", sums.hidden_thousandths}};
  for (const auto& [part, thousandths] : parts) {
    f.Of(scope, f.rank_time, {{"part", part}}).Set(static_cast<double>(thousandths) / 1000);
  }
  f.Settle(scope);
}

void Metrics::MoveWaiting(const JobScope& scope, std::optional<Clock::WallTime> before,
                          std::optional<Clock::WallTime> after) {
  const std::lock_guard lock(families_->mutex);
  std::multiset<Clock::WallTime>& since = families_->scopes[scope].waiting_since;
  if (before.has_value()) since.erase(since.find(*before));
  if (after.has_value()) since.insert(*after);
  families_->Settle(scope);
}

void Metrics::AddHandsOff(int jobs) {
  // The library takes no negative steps.
  jobs < 0 ? families_->hands_off.Decrement(-jobs) : families_->hands_off.Increment(jobs);
}

void Metrics::CountRestart(const JobScope& scope, RestartCause cause, int count) {
  const std::lock_guard lock(families_->mutex);
  // The job has gone, and so have the counters of its namespace.
  if (!families_->scopes.contains(scope)) return;
  families_->Of(scope, families_->restarts, {{"cause", std::string(RestartCauseName(cause))}})
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
