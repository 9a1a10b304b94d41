#include "dashboard/maps/queue_view.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "dashboard/server/health.h"
#include "dashboard/maps/view_text.h"
#include "operator/api/dialect.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using State = KueueWorkload::State;
using WorkloadPtr = std::shared_ptr<const KueueWorkload>;

bool WaitsForANode(const Pod& pod) {
  return pod.node.empty() && !HasStopped(pod) && !pod.meta.deletion_time.has_value();
}

int64_t GpusWanted(const WatchedJob& job) {
  int64_t gpus = 0;
  for (const WatchedRole& role : job.roles) gpus += int64_t{role.desired} * role.gpus;
  return gpus;
}

// Where it stands: those with quota, then those that wait in their order, then those that nobody
// looks at.
int Group(State state) { return state == State::kReserved ? 0 : state == State::kWaiting ? 1 : 2; }

bool GoesFirst(const WorkloadPtr& a, const WorkloadPtr& b) {
  const auto group = std::make_pair(Group(a->state), Group(b->state));
  return std::tie(group.first, b->priority, a->queued, a->meta.ns, a->meta.name) <
         std::tie(group.second, a->priority, b->queued, b->meta.ns, b->meta.name);
}

std::string_view StateName(State state) {
  if (state == State::kReserved) return "reserved";
  return state == State::kInactive ? "inactive" : "waiting";
}

void AppendAmount(std::string_view key, const std::optional<int64_t>& milli, std::string* out) {
  if (!milli.has_value()) return;
  *out += ",\"" + std::string(key) + "\":";
  const int64_t whole = *milli / 1000;
  *out += *milli % 1000 == 0 ? std::to_string(whole)
                             : nlohmann::json(static_cast<double>(*milli) / 1000).dump();
}

std::string QuotasOf(const KueueQueue& queue) {
  std::string out = ",\"usage\":[";
  for (const KueueQuota& quota : queue.quotas) {
    AppendComma(&out);
    out += "{\"resource\":";
    AppendQuoted(quota.resource, &out);
    AppendText("flavor", quota.flavor, &out);
    AppendAmount("used", quota.used, &out);
    AppendAmount("nominal", quota.nominal, &out);
    AppendAmount("borrowed", quota.borrowed, &out);
    AppendAmount("borrowingLimit", quota.borrowing_limit, &out);
    out += '}';
  }
  return out + ']';
}

std::string AboutQueue(const KueueQueue& queue) {
  std::string out;
  AppendText("clusterQueue", queue.cluster_queue, &out);
  AppendText("cohort", queue.cohort, &out);
  AppendText("strategy", queue.strategy, &out);
  if (queue.stopped) out += ",\"stopped\":true";
  AppendText("message", queue.inactive, &out, QueueTable::kReasonShownMax);
  AppendNumber("admitted", queue.admitted, &out);
  return out + QuotasOf(queue);
}

std::string NamesOfJob(const WatchedJob& job) {
  std::string out = R"(,"job":{"kind":")" + std::string(DialectOf(job.kind).kind_name) + '"';
  AppendText("namespace", job.meta.ns, &out);
  AppendText("name", job.meta.name, &out);
  out += '}';
  AppendText("owner", job.owner, &out);
  return out;
}

}  // namespace

std::optional<WaitingJob> WaitingOf(const std::shared_ptr<const WatchedJob>& job,
                                    const std::vector<std::shared_ptr<const WatchedPod>>& pods) {
  const JobState state = job->status.state;
  const bool over = job->ended() || state == JobState::kSuspended || job->suspend;
  if (over || job->meta.deletion_time.has_value()) return std::nullopt;
  WaitingJob waiting{.job = job, .since = job->meta.creation_time.value_or(Clock::WallTime{})};
  if (state == JobState::kPending) waiting.reason = job->status.message;
  if (pods.empty()) {
    if (state != JobState::kPending) return std::nullopt;
    waiting.gpus = GpusWanted(*job);
    return waiting;
  }
  std::optional<Clock::WallTime> oldest;
  bool waits = false;
  for (const auto& pod : pods) {
    if (!WaitsForANode(*pod)) continue;
    waits = true;
    waiting.gpus += pod->gpus;
    const auto created = pod->meta.creation_time;
    if (created.has_value() && (!oldest.has_value() || *created < *oldest)) oldest = created;
    if (waiting.reason.empty()) waiting.reason = WhyOfPod(*pod);
  }
  if (!waits) return std::nullopt;
  if (oldest.has_value()) waiting.since = *oldest;
  return waiting;
}

class QueueTable::Maker {
 public:
  Maker(const QueueFacts& facts, QueueTable* table) : facts_(facts), table_(table) {}

  void Make() {
    table_->resource_ = facts_.resource;
    table_->nodes_known_ = facts_.nodes_known;
    table_->has_kueue_ = facts_.kueue.has_value();
    if (facts_.kueue.has_value()) AddKueue(*facts_.kueue);
    AddInOrder();
    AddPools();
  }

 private:
  void AddKueue(const KueueObjects& kueue) {
    std::map<std::string, std::string> cluster_queue_of;  // By namespace/name.
    for (const auto& queue : kueue.cluster_queues) {
      AddQueue(*queue, &table_->cluster_queues_, &cluster_places_);
    }
    for (const auto& queue : kueue.local_queues) {
      AddQueue(*queue, &table_->local_queues_, &local_places_);
      cluster_queue_of[KeyOf(queue->meta.ns, queue->meta.name)] = queue->cluster_queue;
    }
    std::map<std::string, std::vector<WorkloadPtr>> lines;  // By ClusterQueue.
    for (const WorkloadPtr& workload : kueue.workloads) {
      if (workload->state > State::kReserved) continue;
      std::string line = workload->cluster_queue;
      if (line.empty()) line = cluster_queue_of[KeyOf(workload->meta.ns, workload->queue)];
      lines[line].push_back(workload);
    }
    for (auto& [name, line] : lines) AddLine(name, &line);
  }

  static std::string KeyOf(const std::string& ns, const std::string& name) {
    return ns + "/" + name;
  }

  static Queue NewQueue(const std::string& ns, const std::string& name) {
    Queue queue{.ns = ns, .name = "{\"name\":"};
    AppendQuoted(name, &queue.name);
    AppendText("namespace", ns, &queue.name);
    return queue;
  }

  static void AddQueue(const KueueQueue& read, std::vector<Queue>* queues,
                       std::map<std::string, size_t>* places) {
    (*places)[KeyOf(read.meta.ns, read.meta.name)] = queues->size();
    queues->push_back(NewQueue(read.meta.ns, read.meta.name));
    queues->back().about = AboutQueue(read);
  }

  // Of one ClusterQueue; `name` is empty where a workload's queue leads to none.
  void AddLine(const std::string& name, std::vector<WorkloadPtr>* line) {
    std::sort(line->begin(), line->end(), GoesFirst);
    int64_t position = 0;
    const auto cluster_queue = cluster_places_.find(KeyOf("", name));
    for (const WorkloadPtr& workload : *line) {
      const bool in_order = workload->state == State::kWaiting && !name.empty();
      const Entry* entry = AddWorkload(*workload, in_order ? ++position : 0);
      if (cluster_queue != cluster_places_.end()) {
        table_->cluster_queues_[cluster_queue->second].entries.push_back(entry);
      }
      LocalQueueOf(*workload).entries.push_back(entry);
    }
  }

  // One that does not exist has no `about`.
  Queue& LocalQueueOf(const KueueWorkload& workload) {
    const auto [at, added] = local_places_.try_emplace(KeyOf(workload.meta.ns, workload.queue),
                                                       table_->local_queues_.size());
    if (added) {
      table_->local_queues_.push_back(NewQueue(workload.meta.ns, workload.queue));
      table_->local_queues_.back().about = R"(,"missing":true,"admitted":0,"usage":[])";
    }
    return table_->local_queues_[at->second];
  }

  const Entry* AddWorkload(const KueueWorkload& workload, int64_t position) {
    auto entry = std::make_unique<Entry>();
    entry->ns = workload.meta.ns;
    std::string& out = entry->head;
    out = "{\"position\":" + std::to_string(position);
    AppendText("state", StateName(workload.state), &out);
    AppendText("namespace", workload.meta.ns, &out);
    AppendText("queue", workload.queue, &out);
    AppendNumber("priority", workload.priority, &out);
    AppendNumber("gpus", workload.gpus, &out);
    AppendText("since", FormatRfc3339(workload.queued), &out);
    out += ",\"reason\":";
    AppendQuoted(workload.reason, &out, kReasonShownMax);
    AppendText("workload", workload.meta.name, &entry->workload);
    const auto job = facts_.job_of ? facts_.job_of(workload) : nullptr;
    if (job != nullptr) {
      queued_.insert(job->meta.uid);
      entry->kind = job->kind;
      entry->job = NamesOfJob(*job);
    }
    table_->entries_.push_back(std::move(entry));
    return table_->entries_.back().get();
  }

  void AddInOrder() {
    std::vector<const WaitingJob*> line;
    for (const WaitingJob& waiting : facts_.waiting) {
      if (queued_.count(waiting.job->meta.uid) == 0) line.push_back(&waiting);
    }
    std::sort(line.begin(), line.end(), [](const WaitingJob* a, const WaitingJob* b) {
      const ObjectMeta &x = a->job->meta, &y = b->job->meta;
      return std::tie(a->since, x.ns, x.name, a->job->kind) <
             std::tie(b->since, y.ns, y.name, b->job->kind);
    });
    table_->in_order_.name = R"({"name":"","inOrder":true)";
    int64_t position = 0;
    for (const WaitingJob* waiting : line) AddWaiting(*waiting, ++position);
  }

  void AddWaiting(const WaitingJob& waiting, int64_t position) {
    auto entry = std::make_unique<Entry>();
    const WatchedJob& job = *waiting.job;
    entry->ns = job.meta.ns;
    std::string& out = entry->head;
    out = "{\"position\":" + std::to_string(position);
    AppendText("state", "waiting", &out);
    AppendText("namespace", job.meta.ns, &out);
    AppendText("queue", job.queue, &out);
    AppendNumber("gpus", waiting.gpus, &out);
    AppendText("since", FormatRfc3339(waiting.since), &out);
    out += ",\"reason\":";
    AppendQuoted(waiting.reason, &out, kReasonShownMax);
    entry->kind = job.kind;
    entry->job = NamesOfJob(job);
    table_->in_order_.entries.push_back(entry.get());
    table_->entries_.push_back(std::move(entry));
  }

  void AddPools() {
    std::map<std::string_view, Pool*> by_node;
    for (const auto& node : facts_.nodes) {
      if (node->capacity <= 0 && node->allocatable <= 0) continue;
      Pool& pool = table_->pools_[node->product];
      pool.allocatable += std::clamp(node->allocatable, 0, kCountMax);
      by_node[node->meta.name] = &pool;
    }
    std::set<std::pair<std::string_view, std::string_view>> holding;
    for (const auto& pod : facts_.pods) {
      if (pod->gpus <= 0 || pod->node.empty() || HasStopped(*pod)) continue;
      const auto pool = by_node.find(pod->node);
      (pool == by_node.end() ? table_->pools_[""] : *pool->second).held += pod->gpus;
      table_->held_.push_back({pod->meta.ns, pod->gpus});
      if (!pod->job.empty()) holding.insert({pod->meta.ns, pod->job});
    }
    for (const auto& [ns, job] : holding) ++table_->holding_[std::string(ns)];
  }

  const QueueFacts& facts_;
  QueueTable* const table_;
  std::map<std::string, size_t> cluster_places_, local_places_;
  std::set<std::string> queued_;  // Uids of jobs that have a workload.
};

QueueTable::QueueTable(const QueueFacts& facts) { Maker(facts, this).Make(); }

bool QueueTable::Sees(const Entry& entry, const Sight& sight,
                      const QueueSight& queue_sight) const {
  const bool of_job = entry.kind.has_value() && sight.MaySee(*entry.kind, entry.ns);
  return of_job || (!entry.workload.empty() && queue_sight.workloads.Has(entry.ns));
}

void QueueTable::AppendEntry(const Entry& entry, const Sight& sight,
                             const QueueSight& queue_sight, std::string* out) const {
  AppendComma(out);
  *out += entry.head;
  if (queue_sight.workloads.Has(entry.ns)) *out += entry.workload;
  if (entry.kind.has_value() && sight.MaySee(*entry.kind, entry.ns)) *out += entry.job;
  *out += '}';
}

void QueueTable::AppendQueue(const Queue& queue, bool full, const Sight& sight,
                             const QueueSight& queue_sight, std::string* out) const {
  std::string pending;
  size_t seen = 0;
  for (const Entry* entry : queue.entries) {
    if (!Sees(*entry, sight, queue_sight)) continue;
    if (++seen <= kShownMax) AppendEntry(*entry, sight, queue_sight, &pending);
  }
  if (!full && seen == 0) return;
  AppendComma(out);
  *out += queue.name;
  *out += full ? std::string_view(queue.about) : R"(,"admitted":0,"usage":[])";
  const size_t all = full ? queue.entries.size() : seen;
  AppendNumber("waiting", static_cast<int64_t>(all), out);
  AppendNumber("hidden", static_cast<int64_t>(all - seen), out);
  *out += ",\"pending\":[" + pending + "]}";
}

// Without the right to nodes only what one's own pods hold.
std::string QueueTable::Usage(const Sight& sight) const {
  std::string out = ",\"usage\":[";
  const auto append = [&](std::string_view product, int64_t held, std::string_view nominal) {
    AppendComma(&out);
    out += "{\"resource\":";
    AppendQuoted(resource_, &out);
    AppendText("flavor", product, &out);
    AppendNumber("used", held, &out);
    out += nominal;
    out += '}';
  };
  if (sight.nodes && nodes_known_) {
    for (const auto& [product, pool] : pools_) {
      std::string nominal;
      AppendNumber("nominal", pool.allocatable, &nominal);
      append(product, pool.held, nominal);
    }
  } else {
    int64_t held = 0;
    for (const Held& one : held_) held += sight.pods.Has(one.ns) ? one.gpus : 0;
    append("", held, "");
  }
  return out + ']';
}

std::string QueueTable::TextFor(const Sight& sight, const QueueSight& queue_sight) const {
  std::string out = has_kueue_ ? R"({"source":"kueue","queues":[)"
                               : R"({"source":"builtin","queues":[)";
  if (queue_sight.cluster_queues) {
    for (const Queue& queue : cluster_queues_) AppendQueue(queue, true, sight, queue_sight, &out);
  }
  for (const Queue& queue : local_queues_) {
    AppendQueue(queue, queue_sight.local_queues.Has(queue.ns), sight, queue_sight, &out);
  }
  if (!has_kueue_ || !in_order_.entries.empty()) {
    Queue in_order = in_order_;
    in_order.about = Usage(sight);
    int64_t holding = 0;
    for (const auto& [ns, jobs] : holding_) holding += sight.pods.Has(ns) ? jobs : 0;
    AppendNumber("admitted", holding, &in_order.about);
    AppendQueue(in_order, true, sight, queue_sight, &out);
  }
  return out + "]}";
}

}  // namespace taas::dashboard
