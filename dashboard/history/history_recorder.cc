#include "dashboard/history/history_recorder.h"

#include <algorithm>

#include "dashboard/history/history_view.h"
#include "dashboard/server/job_view.h"
#include "dashboard/server/job_writes.h"
#include "operator/api/json_field.h"
#include "operator/base/log.h"
#include "operator/kube/api_path.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;
using Pods = HistorySource::Pods;

constexpr HistoryCalls::Options kManifestCalls{.at_once = 4};
constexpr HistoryCalls::Options kSeriesCalls{.at_once = 4, .waiting_max = 1'000};
constexpr HistoryCalls::Options kTailCalls{.at_once = 2};

std::string PathOf(const WatchedJob& job) {
  const Resource resource =
      job.kind == JobKind::kTfJob ? Resource::kTfJobs : Resource::kTrainingJobs;
  return ObjectPath(resource, job.meta.ns, job.meta.name);
}

bool AnyRuns(const Pods& pods) {
  return std::any_of(pods.begin(), pods.end(), [](const auto& pod) {
    return pod->phase == PodPhase::kRunning && !HasEnded(*pod);
  });
}

// Equal for what would be written alike.
size_t MarkOf(const WatchedJob& job, const HistorySource::Events& events) {
  std::string mark = job.meta.resource_version;
  for (const auto& event : events) mark += "," + event->meta.resource_version;
  return std::hash<std::string>()(mark);
}

Clock::Duration UsageDelay(const WatchedJob& job, Clock::WallTime now) {
  const auto since = job.status.start_time.has_value() ? job.status.start_time
                                                       : job.meta.creation_time;
  const auto ran = since.has_value() ? now - *since : Clock::WallTime::duration::zero();
  return std::clamp<Clock::Duration>(ran / 60, HistoryRecorder::kUsageFirst,
                                     HistoryRecorder::kUsageEvery);
}

}  // namespace

HistoryRecorder::HistoryRecorder(Context context)
    : executor_(context.executor),
      store_(context.store),
      own_(context.own),
      source_(std::move(context.source)),
      manifest_calls_(executor_, kManifestCalls),
      series_calls_(executor_, kSeriesCalls),
      tail_calls_(executor_, kTailCalls) {}

HistoryRecorder::~HistoryRecorder() {
  if (tick_timer_ != 0) executor_.Cancel(tick_timer_);
}

void HistoryRecorder::Start() {
  store_.Start([this, alive = std::weak_ptr<bool>(alive_)](std::vector<HistoryOpen> jobs) {
    if (alive.lock() != nullptr) OnOpened(std::move(jobs));
  });
  Tick();
}

// Also of a new file, where the one before turned out to be damaged: then all begins anew.
void HistoryRecorder::OnOpened(std::vector<HistoryOpen> jobs) {
  ready_ = false;
  known_.clear();
  to_look_.clear();
  settling_.clear();
  series_due_.clear();
  usage_due_.clear();
  usage_.left.clear();
  from_file_ = std::move(jobs);
}

void HistoryRecorder::Tick() {
  if (from_file_.has_value() && source_.synced()) Reconcile();
  if (ready_) {
    Settle();
    AskSeries();
    AskUsage();
  }
  tick_timer_ = executor_.PostAfter(kTick, [this] { Tick(); });
}

void HistoryRecorder::Reconcile() {
  const std::vector<HistoryOpen> from_file = *std::exchange(from_file_, std::nullopt);
  const auto jobs = source_.jobs();
  std::set<std::string> live;
  for (const auto& job : jobs) live.insert(job->meta.uid);
  for (const HistoryOpen& job : from_file) {
    if (live.count(job.uid) > 0) {
      Known& known = known_[job.uid];
      known.over = job.over;
      known.settled = job.settled;
      known.generation = job.generation;
    } else if (source_.watches(job.kind, job.ns)) {
      store_.Put(HistoryGone{job.uid, executor_.clock().WallNow(), /*unseen=*/true});
    }
  }
  ready_ = true;
  for (const auto& job : jobs) OnChanged(*job);
}

void HistoryRecorder::OnChanged(const WatchedJob& job) {
  if (!ready_ || job.meta.uid.empty()) return;
  const auto known = known_.find(job.meta.uid);
  if (known != known_.end() && known->second.settled && job.ended()) return;
  LookSoon(job.key());
}

void HistoryRecorder::LookSoon(const std::string& key) {
  to_look_.insert(key);
  if (std::exchange(looking_, true)) return;
  executor_.Post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.lock() != nullptr) LookAtSome();
  });
}

void HistoryRecorder::LookAtSome() {
  looking_ = false;
  for (size_t i = 0; i < kLooksPerTask && ready_ && !to_look_.empty(); ++i) {
    const auto job = source_.find(*to_look_.begin());
    to_look_.erase(to_look_.begin());
    if (job != nullptr) Look(*job);
  }
  if (!to_look_.empty()) LookSoon(*to_look_.begin());
}

void HistoryRecorder::Look(const WatchedJob& job) {
  const auto [at, added] = known_.try_emplace(job.meta.uid);
  Known& known = at->second;
  known.key = job.key();
  const Clock::Time now = executor_.clock().Now();
  const Pods pods = source_.pods_of(job);
  const bool ends = job.ended() && !known.over;
  // Somebody has edited its status.
  const bool goes_on = known.over && !job.ended();
  if (ends || goes_on) {
    known.over = ends;
    known.settled = false;
    known.settle_steps = 0;
    known.mark.reset();
    known.last_manifest = false;
    known.manifest_due = now;
  }
  if (added || !known.mark.has_value() || now >= known.row_due) Record(job, pods, &known);
  WantManifest(job, &known);
  WantTails(job, pods, /*all=*/false, &known);
  WantSeries(job, pods, &known);
  WantUsage(job, pods, &known);
  if (ends) {
    KeepLastPoints(job);
    FetchFiles(Share(job), pods);
    FetchCheckpoints(Share(job), pods);
  }
  if (known.over && !known.settled && known.settle_steps == 0) {
    known.settle_steps = kSettleSteps;
    settling_.emplace(now + kSettle, job.meta.uid);
    if (AnyRuns(pods)) FetchSeries(Share(job), pods);
  }
}

// The one that the cluster's copy has, so that what waits costs nothing.
HistorySource::JobPtr HistoryRecorder::Share(const WatchedJob& job) const {
  const HistorySource::JobPtr kept = source_.find(job.key());
  const bool same = kept != nullptr && kept->meta.uid == job.meta.uid;
  return same ? kept : std::make_shared<const WatchedJob>(job);
}

void HistoryRecorder::Record(const WatchedJob& job, const Pods& pods, Known* known) {
  known->row_due = executor_.clock().Now() + kRowEvery;
  const auto events = source_.events_of(job, pods);
  const size_t mark = MarkOf(job, events);
  if (mark == known->mark && !known->settled) return;
  known->mark = mark;
  store_.Put(EntryOf({.job = job, .pods = pods, .now = executor_.clock().WallNow()}, events,
                     {.settled = known->settled}));
}

void HistoryRecorder::OnGone(const WatchedJob& job) {
  if (!ready_ || job.meta.uid.empty()) return;
  const Clock::WallTime now = executor_.clock().WallNow();
  Known known;
  if (const auto found = known_.find(job.meta.uid); found != known_.end()) {
    known = std::move(found->second);
    known_.erase(found);
  }
  const Pods pods = source_.pods_of(job);
  if (known.over) {
    store_.Put(HistoryGone{job.meta.uid, now});
  } else {
    store_.Put(EntryOf({.job = job, .pods = pods, .now = now}, source_.events_of(job, pods),
                       {.deleted = now, .settled = true}));
    KeepLastPoints(job);
    FetchFiles(Share(job), pods);
    FetchCheckpoints(Share(job), pods);
    // Its pods are being ended; for a moment they still answer.
    if (AnyRuns(pods)) FetchSeries(Share(job), pods);
  }
  WantTails(job, pods, /*all=*/true, &known);
}

// At the last step a job is written for the last time.
void HistoryRecorder::Settle() {
  const Clock::Time now = executor_.clock().Now();
  while (!settling_.empty() && settling_.begin()->first <= now) {
    const std::string uid = settling_.begin()->second;
    settling_.erase(settling_.begin());
    const auto found = known_.find(uid);
    if (found == known_.end() || found->second.settle_steps == 0) continue;
    Known& known = found->second;
    const auto job = source_.find(known.key);
    if (job == nullptr || job->meta.uid != uid || !job->ended()) continue;
    const Pods pods = source_.pods_of(*job);
    WantManifest(*job, &known);
    WantTails(*job, pods, /*all=*/false, &known);
    known.settled = --known.settle_steps == 0;
    // What the evaluator wrote after the training's end.
    if (known.settled) FetchFiles(job, pods);
    if (known.settled) FetchCheckpoints(job, pods);
    Record(*job, pods, &known);
    if (!known.settled) settling_.emplace(now + kSettle, uid);
  }
}

void HistoryRecorder::WantManifest(const WatchedJob& job, Known* known) {
  const Clock::Time now = executor_.clock().Now();
  const bool have = known->generation == job.meta.generation &&
                    (!job.ended() || known->last_manifest || known->settled);
  if (have || now < known->manifest_due || now < manifests_from_) return;
  known->manifest_due = now + kManifestAgain;
  manifest_calls_.Add([this, uid = job.meta.uid, last = job.ended(),
                       path = PathOf(job)](HistoryCalls::Ended ended) {
    own_.Do({.path = path}, [this, alive = std::weak_ptr<bool>(alive_), uid, last,
                             ended](const absl::StatusOr<HttpReply>& reply) {
      if (alive.lock() == nullptr) return;
      OnManifest(uid, last, reply);
      ended();
    });
  });
}

void HistoryRecorder::OnManifest(const std::string& uid, bool last,
                                 const absl::StatusOr<HttpReply>& reply) {
  if (!reply.ok()) return;
  if (reply->code == 401 || reply->code == 403) {
    manifests_from_ = executor_.clock().Now() + kRefusedAgain;
    if (!std::exchange(refused_logged_, true)) {
      Log(LogLevel::kWarning,
          "the dashboard's account may not `get` jobs, so the history has no manifests; allow it "
          "in its ClusterRole");
    }
    return;
  }
  if (reply->code != 200) return;
  const absl::StatusOr<Json> object = ParseJsonObject(reply->body);
  if (!object.ok()) return;
  const auto meta = object->find("metadata");
  // Of another job that has its name by now.
  if (meta == object->end() || TextOf(*meta, "uid") != uid) return;
  const auto generation = meta->find("generation");
  const bool numbered = generation != meta->end() && generation->is_number_integer();
  const int64_t number = numbered ? generation->get<int64_t>() : 0;
  store_.Put(HistoryManifest{uid, number, WithoutManagedFields(reply->body)});
  const auto known = known_.find(uid);
  if (known == known_.end()) return;
  known->second.generation = number;
  known->second.last_manifest = last;
}

void HistoryRecorder::WantTails(const WatchedJob& job, const Pods& pods, bool all, Known* known) {
  const Pods wanted = known->tails.Pick(pods, all);
  if (wanted.empty()) return;
  const HistorySource::JobPtr shared = Share(job);
  for (size_t i = 0; i < wanted.size(); i += kTailPodsPerCall) {
    const size_t end = std::min(wanted.size(), i + kTailPodsPerCall);
    const Pods some(wanted.begin() + static_cast<ptrdiff_t>(i),
                    wanted.begin() + static_cast<ptrdiff_t>(end));
    if (!FetchTails(shared, some)) known->tails.Answered(some, {});
  }
}

bool HistoryRecorder::FetchTails(const HistorySource::JobPtr& job, const Pods& pods) {
  return tail_calls_.Add([this, job, pods](const HistoryCalls::Ended& ended) {
    source_.fetch_tails(job, pods, [this, alive = std::weak_ptr<bool>(alive_), job, pods,
                                    ended](std::vector<HistoryTail> tails) {
      if (alive.lock() == nullptr) return;
      OnTails(*job, pods, std::move(tails));
      ended();
    });
  });
}

void HistoryRecorder::OnTails(const WatchedJob& job, const Pods& pods,
                              std::vector<HistoryTail> tails) {
  std::set<std::string> got;
  for (HistoryTail& tail : tails) {
    const auto pod = std::find_if(pods.begin(), pods.end(), [&](const auto& asked) {
      return asked->meta.name == tail.pod;
    });
    if (pod == pods.end()) continue;
    got.insert(tail.pod);
    tail.replica = ReplicaName(job, **pod);
    tail.pod_number = (*pod)->pod_number;
    CutTail(&tail);
    store_.Put(HistoryLog{job.meta.uid, std::move(tail)});
  }
  const auto known = known_.find(job.meta.uid);
  if (known != known_.end()) known->second.tails.Answered(pods, got);
}

void HistoryRecorder::WantSeries(const WatchedJob& job, const Pods& pods, Known* known) {
  if (job.ended() || !AnyRuns(pods)) return;
  const Clock::Time now = executor_.clock().Now();
  if (!known->series_waits) {
    known->series_waits = true;
    known->series_every = kSeriesFirst;
    known->series_due = now + kSeriesFirst;
    series_due_.emplace(known->series_due, job.meta.uid);
    return;
  }
  // Its end has come nearer than it seemed when its curves were asked for.
  const Clock::Time due = now + SeriesDelay(job, known->series_every);
  if (due >= known->series_due) return;
  series_due_.erase({known->series_due, job.meta.uid});
  known->series_due = due;
  series_due_.emplace(due, job.meta.uid);
}

Clock::Duration HistoryRecorder::SeriesDelay(const WatchedJob& job, Clock::Duration every) {
  const auto& progress = job.status.progress;
  if (!progress.has_value() || !progress->eta_seconds.has_value()) return every;
  const int64_t left = std::clamp<int64_t>(*progress->eta_seconds, 0, 3'600);
  return std::clamp<Clock::Duration>(std::chrono::seconds(left / 2), kSeriesFirst, every);
}

void HistoryRecorder::AskSeries() {
  const Clock::Time now = executor_.clock().Now();
  for (size_t asked = 0; asked < kSeriesPerTick && !series_due_.empty() &&
                         series_due_.begin()->first <= now;) {
    const std::string uid = series_due_.begin()->second;
    series_due_.erase(series_due_.begin());
    const auto found = known_.find(uid);
    if (found == known_.end()) continue;
    Known& known = found->second;
    const auto job = source_.find(known.key);
    Pods pods = job == nullptr ? Pods{} : source_.pods_of(*job);
    known.series_waits = job != nullptr && job->meta.uid == uid && !job->ended() && AnyRuns(pods);
    if (!known.series_waits) continue;
    FetchSeries(job, std::move(pods));
    ++asked;
    known.series_every = std::min<Clock::Duration>(2 * known.series_every, kSeriesEvery);
    known.series_due = now + SeriesDelay(*job, known.series_every);
    series_due_.emplace(known.series_due, uid);
  }
}

void HistoryRecorder::WantUsage(const WatchedJob& job, const Pods& pods, Known* known) {
  if (source_.fetch_usage == nullptr || known->usage_waits) return;
  if (job.ended() || !AnyRuns(pods)) return;
  known->usage_waits = true;
  usage_due_.emplace(executor_.clock().Now() + kUsageFirst, job.meta.uid);
}

// One question for all jobs that are due.
void HistoryRecorder::AskUsage() {
  KeepSomeUsage();
  const Clock::Time now = executor_.clock().Now();
  if (usage_asked_ || !usage_.left.empty() || now < usage_from_) return;
  const std::vector<HistorySource::JobPtr> due = TakeUsageDue();
  if (due.empty()) return;
  usage_asked_ = true;
  usage_from_ = now + kUsageAgain;
  source_.fetch_usage(due, [this, alive = std::weak_ptr<bool>(alive_),
                            due](const std::map<std::string, ReplicaUse>& used) {
    if (alive.lock() == nullptr) return;
    usage_asked_ = false;
    const std::chrono::duration<double> at = executor_.clock().WallNow().time_since_epoch();
    usage_ = {.left = due, .at = at.count(), .used = used};
  });
}

// Those that have waited longest; each waits for its next turn.
std::vector<HistorySource::JobPtr> HistoryRecorder::TakeUsageDue() {
  const Clock::Time now = executor_.clock().Now();
  std::vector<HistorySource::JobPtr> due;
  while (due.size() < kUsageJobsMax && !usage_due_.empty() && usage_due_.begin()->first <= now) {
    const std::string uid = usage_due_.begin()->second;
    usage_due_.erase(usage_due_.begin());
    const auto found = known_.find(uid);
    if (found == known_.end()) continue;
    Known& known = found->second;
    auto job = source_.find(known.key);
    known.usage_waits = job != nullptr && job->meta.uid == uid && !job->ended() &&
                        AnyRuns(source_.pods_of(*job));
    if (!known.usage_waits) continue;
    usage_due_.emplace(now + UsageDelay(*job, executor_.clock().WallNow()), uid);
    due.push_back(std::move(job));
  }
  return due;
}

// What was told of a job joins what the file has of it, on the disk's thread, as its curves do.
void HistoryRecorder::KeepSomeUsage() {
  for (size_t kept = 0; kept < kSeriesPerTick && !usage_.left.empty(); ++kept) {
    KeepUsage(*usage_.left.back());
    usage_.left.pop_back();
  }
}

void HistoryRecorder::KeepUsage(const WatchedJob& job) {
  HistoryUsage usage{.uid = job.meta.uid, .sample = {.at = usage_.at, .replicas = {}}};
  for (const auto& pod : source_.pods_of(job)) {
    const auto found = usage_.used.find(pod->meta.uid);
    if (found == usage_.used.end() || HasEnded(*pod)) continue;
    usage.sample.replicas[ReplicaName(job, *pod)] = found->second;
  }
  if (!usage.sample.replicas.empty()) store_.Put(std::move(usage));
}

void HistoryRecorder::KeepLastPoints(const WatchedJob& job) {
  store_.Put(HistoryLastPoints{
      .uid = job.meta.uid, .points = LastPointsOf(job, executor_.clock().WallNow())});
}

void HistoryRecorder::FetchFiles(const HistorySource::JobPtr& job, const Pods& pods) {
  // Of a program of the user's own nobody says where it writes.
  if (source_.fetch_files == nullptr || !job->summaries.has_value()) return;
  const auto end = job->status.completion_time.value_or(executor_.clock().WallNow());
  const std::chrono::duration<double> until = (end + kWrittenAfterEnd).time_since_epoch();
  series_calls_.Add([this, job, pods, until](const HistoryCalls::Ended& ended) {
    source_.fetch_files(job, pods, [this, alive = std::weak_ptr<bool>(alive_), job, until,
                                    ended](std::string curves) {
      if (alive.lock() == nullptr) return;
      if (!curves.empty()) {
        store_.Put(HistoryFiles{job->meta.uid, std::move(curves), until.count()});
      }
      ended();
    });
  });
}

void HistoryRecorder::FetchCheckpoints(const HistorySource::JobPtr& job, const Pods& pods) {
  if (source_.fetch_checkpoints == nullptr || job->checkpoint_dir.empty()) return;
  series_calls_.Add([this, job, pods](const HistoryCalls::Ended& ended) {
    source_.fetch_checkpoints(job, pods, [this, alive = std::weak_ptr<bool>(alive_), job,
                                          ended](std::string checkpoints) {
      if (alive.lock() == nullptr) return;
      if (!checkpoints.empty()) {
        store_.Put(HistoryCheckpoints{job->meta.uid, std::move(checkpoints)});
      }
      ended();
    });
  });
}

// Whoever tells the curves tells the checkpoints, too.
void HistoryRecorder::FetchSeries(const HistorySource::JobPtr& job, Pods pods) {
  FetchCheckpoints(job, pods);
  series_calls_.Add([this, job, pods = std::move(pods)](const HistoryCalls::Ended& ended) {
    source_.fetch_series(job, pods, [this, alive = std::weak_ptr<bool>(alive_), job,
                                     ended](absl::StatusOr<std::string> answer) {
      if (alive.lock() == nullptr) return;
      if (answer.ok()) store_.Put(HistorySeries{job->meta.uid, *std::move(answer)});
      ended();
    });
  });
}

}  // namespace taas::dashboard
