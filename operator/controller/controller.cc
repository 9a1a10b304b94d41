#include "operator/controller/controller.h"

#include <algorithm>
#include <exception>

#include "operator/api/training_job_codec.h"
#include "operator/base/log.h"
#include "operator/plan/exit_codes.h"
#include "operator/plan/replicas.h"
#include "operator/plan/status.h"

namespace taas {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A plan whose steps were taken is made again after this long, in case the events they cause get
// lost.
constexpr seconds kBarrier{10};
// How often a refused creation is tried again: quota comes back, an admission rule is changed.
constexpr seconds kRefusedFirst{5};
constexpr seconds kRefusedMax{300};
// How long a foreign object under our name is believed in without looking.
constexpr seconds kForeignTime{30};
// Replicas start together; their counts are written together.
constexpr milliseconds kStatusSpacing{500};
constexpr seconds kProgressSpacing{10};
constexpr seconds kPollEvery{5};
// A fresh chief answers soon, and short jobs want to be seen; an image that never answers is asked
// less.
constexpr seconds kFirstPoll{1};
constexpr int kFirstPolls = 3;
// Events of one job about refusals and conflicts. A server that words each refusal anew must not
// make this grow.
constexpr size_t kReportedMax = 256;

// Encodings compared: what is not written cannot differ to a reader.
bool OnlyProgressDiffers(const JobStatus& a, JobStatus b) {
  b.progress = a.progress;
  return EncodeStatus(a) == EncodeStatus(b);
}

bool IsUrgent(const JobStatus& before, const JobStatus& after) {
  if (before.state != after.state || before.restarts != after.restarts) return true;
  if (before.conditions.size() != after.conditions.size()) return true;
  for (size_t i = 0; i < before.conditions.size(); ++i) {
    if (before.conditions[i].type != after.conditions[i].type ||
        before.conditions[i].status != after.conditions[i].status) {
      return true;
    }
  }
  return before.completion_time != after.completion_time;
}

bool HasLedgerStep(const Plan& plan) {
  return !plan.steps.empty() && std::holds_alternative<WriteLedger>(plan.steps.front());
}

}  // namespace

struct Controller::Look {
  std::string key;
  std::shared_ptr<const Job> job;
  Plan plan;
  Clock::Time begun;
  int under_way = 0;
  int done = 0;
  bool retry = false;
  seconds after{0};
  std::map<Role, int> created;
};

Controller::Controller(KubeTransport& transport, Executor& executor, Random& random,
                       PollTransport& poll, PortSource& ports, Metrics& metrics, Options options)
    : executor_(executor),
      poll_(poll),
      ports_(ports),
      metrics_(metrics),
      options_(std::move(options)),
      queue_(executor, options_.queue, [this](const std::string& key) { Process(key); }),
      view_(transport, executor, random, options_.namespaces,
            [this](const std::string& key) {
              queue_.Add(key);
              metrics_.SetQueueDepth(queue_.depth());
            }),
      writer_(transport, executor, random, view_) {
  view_.set_on_unreadable([this](const ObjectMeta& job, const std::string& why) {
    const std::string text =
        "internal error: this job cannot be read, so nothing is done for it: " + why;
    Log(LogLevel::kError, "job cannot be read", {{"job", ClusterView::KeyOf(job)}, {"why", why}});
    writer_.PatchMessage(job, text);
  });
}

Controller::~Controller() {
  for (const auto& [key, tracked] : tracked_) {
    if (tracked.poll_timer != 0) executor_.Cancel(tracked.poll_timer);
  }
}

void Controller::Start() { view_.Start(); }

Controller::Tracked& Controller::TrackedOf(const std::string& key, const Job& job) {
  const auto found = tracked_.find(key);
  if (found != tracked_.end() && found->second.uid != job.meta.uid) Forget(key);
  Tracked& tracked = tracked_[key];
  tracked.uid = job.meta.uid;
  return tracked;
}

void Controller::Forget(const std::string& key) {
  const auto found = tracked_.find(key);
  if (found == tracked_.end()) return;
  const Tracked& tracked = found->second;
  if (tracked.poll_timer != 0) executor_.Cancel(tracked.poll_timer);
  if (tracked.state.has_value()) metrics_.MoveJob(&*tracked.state, nullptr);
  tracked_.erase(found);
}

void Controller::Process(const std::string& key) {
  metrics_.SetQueueDepth(queue_.depth());
  const std::shared_ptr<const Job> job = view_.synced() ? view_.FindJob(key) : nullptr;
  if (job == nullptr) {
    Forget(key);
    queue_.Forget(key);
    queue_.Done(key);
    return;
  }
  if (job->ledger.has_value()) view_.ForgetCounted(job->meta.uid, *job->ledger);
  auto look = std::make_shared<Look>();
  look->key = key;
  look->job = job;
  look->begun = executor_.clock().Now();
  PlanAndExecute(look);
}

void Controller::PlanAndExecute(const std::shared_ptr<Look>& look) {
  const std::string& key = look->key;
  Tracked& tracked = TrackedOf(key, *look->job);
  // The one place where the operator's own mistakes end: a job that breaks an invariant must not
  // take the others' operator down.
  try {
    Snapshot snapshot = TakeSnapshot(key, *look->job, tracked);
    look->plan = MakePlan(snapshot);
  } catch (const std::exception& error) {
    return OnInternalError(look, error.what());
  }
  if (tracked.ledger_refused && HasLedgerStep(look->plan)) {
    // Nothing may be said that the stored ledger does not know, but what is in the way.
    look->plan.steps.erase(look->plan.steps.begin());
    look->plan.status = look->job->status;
    look->plan.status.message = tracked.refusal;
  }
  const JobState state = look->plan.status.state;
  if (tracked.state != state) {
    metrics_.MoveJob(tracked.state.has_value() ? &*tracked.state : nullptr, &state);
    tracked.state = state;
  }
  SchedulePoll(key, tracked, look->plan.status);
  Execute(look);
}

void Controller::OnInternalError(const std::shared_ptr<Look>& look, const std::string& what) {
  Log(LogLevel::kError, "internal error: the job cannot be planned",
      {{"job", look->key}, {"why", what}});
  Tracked& tracked = tracked_.at(look->key);
  Snapshot snapshot;
  snapshot.job = *look->job;
  snapshot.now = executor_.clock().WallNow();
  look->plan = {};
  look->plan.status = InternalErrorStatus(snapshot, what);
  look->retry = true;
  Report(*look, tracked, "InternalError", "InternalError", look->plan.status.message);
  if (EncodeStatus(look->job->status) == EncodeStatus(look->plan.status)) return CloseLook(look);
  WriteStatus(look);
}

Snapshot Controller::TakeSnapshot(const std::string& key, const Job& job, Tracked& tracked) {
  const Clock::Time now = executor_.clock().Now();
  if (tracked.foreign_until <= now) {
    tracked.foreign_pods.clear();
    tracked.foreign_service.reset();
  }
  if (tracked.refused_until <= now) {
    tracked.refusal.clear();
    tracked.ledger_refused = false;
  }
  Snapshot snapshot;
  snapshot.job = job;
  for (const auto& pod : view_.PodsOf(key)) {
    snapshot.pods.push_back(*pod);
    tracked.foreign_pods.erase(pod->meta.name);
  }
  for (const auto& [name, pod] : tracked.foreign_pods) snapshot.pods.push_back(pod);
  snapshot.gone = view_.GoneOf(job.meta.uid);
  if (const auto service = view_.FindService(key); service != nullptr) {
    snapshot.service = ServiceView{.owner_uid = service->owner_uid};
    snapshot.service->of_earlier_job = service->job == job.meta.name &&
                                       !service->owner_uid.empty() &&
                                       service->owner_uid != job.meta.uid;
  } else {
    snapshot.service = tracked.foreign_service;
  }
  snapshot.now = executor_.clock().WallNow();
  snapshot.addresses = options_.addresses;
  snapshot.polled = tracked.polled;
  snapshot.refusal = tracked.refusal;
  snapshot.default_image = options_.trainer_image;
  return snapshot;
}

Plan Controller::MakePlan(Snapshot& snapshot) {
  Plan plan = options_.plan(snapshot);
  if (plan.ports_wanted == 0) return plan;
  snapshot.free_ports = ports_.Take(plan.ports_wanted, PortsInUse());
  plan = options_.plan(snapshot);
  if (plan.ports_wanted > 0) {
    plan.status.message = "127.0.0.1 has no " + std::to_string(plan.ports_wanted) +
                          " free ports for the replicas: end some other programs or jobs";
    plan.wake_at = snapshot.now + kForeignTime;
  }
  return plan;
}

std::set<int32_t> Controller::PortsInUse() const {
  std::set<int32_t> ports;
  for (const std::string& key : view_.JobKeys()) {
    const auto job = view_.FindJob(key);
    if (!job->ledger.has_value() || job->ledger->outcome.has_value()) continue;
    for (const auto& [role, entries] : job->ledger->replicas) {
      for (const auto& [index, entry] : entries) ports.insert({entry.port, entry.status_port});
    }
  }
  return ports;
}

void Controller::Execute(const std::shared_ptr<Look>& look) {
  Tracked& tracked = tracked_.at(look->key);
  ReportConflicts(*look, tracked);
  std::vector<Step> steps = look->plan.steps;
  const bool held = !tracked.refusal.empty();
  std::erase_if(steps, [held](const Step& step) {
    const bool creates =
        std::holds_alternative<CreatePod>(step) || std::holds_alternative<CreateService>(step);
    return std::holds_alternative<ReportConflict>(step) || (held && creates);
  });
  // Counted before the first is sent, so that no reply can seem to be the last one too early.
  look->under_way = static_cast<int>(steps.size());
  if (steps.empty()) return Finish(look);
  for (const Step& step : steps) {
    // As in PlanAndExecute: what cannot even be sent is refused by ourselves.
    try {
      Execute(look, step);
    } catch (const std::exception& error) {
      OnWritten(look, step,
                {.kind = WriteResult::Kind::kRefused,
                 .message = std::string("InternalError: ") + error.what(),
                 .reason = "InternalError"});
    }
  }
}

void Controller::Execute(const std::shared_ptr<Look>& look, const Step& step) {
  const auto done = [this, look, step](const WriteResult& result) {
    OnWritten(look, step, result);
  };
  if (const auto* ledger = std::get_if<WriteLedger>(&step)) {
    writer_.PatchLedger(*look->job, ledger->ledger, done);
  } else if (const auto* service = std::get_if<CreateService>(&step)) {
    writer_.Create(*look->job, *service, done);
  } else if (const auto* pod = std::get_if<CreatePod>(&step)) {
    writer_.Create(*look->job, *pod, done);
  } else if (const auto* drop = std::get_if<DeletePod>(&step)) {
    Log(LogLevel::kInfo, "deleting pod",
        {{"job", look->key}, {"pod", drop->name}, {"why", drop->why}});
    writer_.Delete(*drop, done);
  }
}

void Controller::OnWritten(const std::shared_ptr<Look>& look, const Step& step,
                           const WriteResult& result) {
  const auto found = tracked_.find(look->key);
  const bool same_job = found != tracked_.end() && found->second.uid == look->job->meta.uid;
  switch (result.kind) {
    case WriteResult::Kind::kDone:
      ++look->done;
      if (const auto* pod = std::get_if<CreatePod>(&step)) ++look->created[pod->pod.role];
      if (const auto* ledger = std::get_if<WriteLedger>(&step)) OnLedgerWritten(*look, *ledger);
      break;
    case WriteResult::Kind::kTaken:
      if (!same_job) break;
      found->second.foreign_until = executor_.clock().Now() + kForeignTime;
      if (result.pod.has_value()) {
        found->second.foreign_pods[result.pod->meta.name] = *result.pod;
      } else {
        found->second.foreign_service = ServiceView{.owner_uid = result.owner_uid};
      }
      queue_.Add(look->key);
      break;
    case WriteResult::Kind::kRefused:
      OnRefused(*look, step, result);
      break;
    case WriteResult::Kind::kReplan:
    case WriteResult::Kind::kLater:
      Log(LogLevel::kDebug, result.message, {{"job", look->key}});
      look->retry = true;
      look->after = std::max(look->after, result.after);
      break;
  }
  if (--look->under_way == 0) Finish(look);
}

void Controller::OnLedgerWritten(const Look& look, const WriteLedger& step) {
  const Ledger before = look.job->ledger.value_or(Ledger{});
  for (const auto& [cause, count] : step.ledger.restarts) {
    const auto old = before.restarts.find(cause);
    const int32_t more = count - (old == before.restarts.end() ? 0 : old->second);
    if (more > 0 && look.job->ledger.has_value()) metrics_.CountRestart(cause, more);
  }
  for (const LedgerNote& note : step.notes) {
    Log(note.warning ? LogLevel::kWarning : LogLevel::kInfo, note.message,
        {{"job", look.key}, {"reason", note.reason}});
    writer_.Event(look.job->meta, note.warning, note.reason, note.message);
  }
}

void Controller::OnRefused(const Look& look, const Step& step, const WriteResult& result) {
  Log(LogLevel::kWarning, result.message, {{"job", look.key}});
  const auto found = tracked_.find(look.key);
  if (found == tracked_.end() || found->second.uid != look.job->meta.uid) return;
  Tracked& tracked = found->second;
  const bool first_of_look = tracked.refused_until <= look.begun;
  if (!first_of_look) return;
  const int doublings = std::min(tracked.refusals++, 6);  // 5 s · 2^6 is past the limit.
  tracked.refused_until =
      executor_.clock().Now() + std::min<seconds>(kRefusedMax, kRefusedFirst * (1 << doublings));
  tracked.refusal = result.message;
  tracked.ledger_refused = std::holds_alternative<WriteLedger>(step);
  Report(look, tracked, "Refused/" + std::to_string(step.index()) + "/" + result.reason, "Refused",
         result.message);
  queue_.Add(look.key);
}

void Controller::Report(const Look& look, Tracked& tracked, const std::string& cause,
                        const std::string& reason, const std::string& message) {
  if (tracked.reported.size() >= kReportedMax || !tracked.reported.insert(cause).second) return;
  writer_.Event(look.job->meta, true, reason, message);
}

void Controller::ReportConflicts(const Look& look, Tracked& tracked) {
  for (const Step& step : look.plan.steps) {
    const auto* conflict = std::get_if<ReportConflict>(&step);
    if (conflict == nullptr) continue;
    const std::string text = "a " + conflict->kind + " " + conflict->name +
                             " exists that does not belong to this job (owner uid " +
                             (conflict->owner_uid.empty() ? "none" : conflict->owner_uid) + ")";
    Log(LogLevel::kDebug, text, {{"job", look.key}});
    Report(look, tracked, conflict->kind + "/" + conflict->name, "NameConflict", text);
  }
}

void Controller::Finish(const std::shared_ptr<Look>& look) {
  const auto found = tracked_.find(look->key);
  if (found != tracked_.end() && found->second.uid == look->job->meta.uid) {
    Tracked& tracked = found->second;
    AnnouncePods(*look, tracked);
    // A job that is changing is looked at again at once; its status is written when it is quiet.
    const bool quiet = look->done == 0 && !look->job->meta.deletion_time.has_value();
    if (quiet && !HasLedgerStep(look->plan)) {
      const auto delay = StatusDelay(*look, tracked);
      if (delay.has_value() && *delay <= Clock::Duration::zero()) return WriteStatus(look);
      if (delay.has_value()) queue_.AddAfter(look->key, *delay);
    }
  }
  CloseLook(look);
}

std::optional<Clock::Duration> Controller::StatusDelay(const Look& look,
                                                       const Tracked& tracked) const {
  const JobStatus& before = look.job->status;
  const JobStatus& after = look.plan.status;
  if (EncodeStatus(before) == EncodeStatus(after)) return std::nullopt;
  if (!tracked.status_ever_written || IsUrgent(before, after)) return Clock::Duration::zero();
  const Clock::Duration spacing = OnlyProgressDiffers(before, after)
                                      ? Clock::Duration(kProgressSpacing)
                                      : Clock::Duration(kStatusSpacing);
  return tracked.status_written + spacing - executor_.clock().Now();
}

void Controller::WriteStatus(const std::shared_ptr<Look>& look) {
  writer_.PatchStatus(*look->job, look->plan.status, [this, look](const WriteResult& result) {
    const auto found = tracked_.find(look->key);
    const bool same_job = found != tracked_.end() && found->second.uid == look->job->meta.uid;
    if (result.kind == WriteResult::Kind::kDone && same_job) {
      found->second.status_written = executor_.clock().Now();
      found->second.status_ever_written = true;
      ObserveLaunch(*look->job, look->plan.status, found->second);
      if (look->job->status.state != look->plan.status.state) {
        Log(LogLevel::kInfo, "job state changed",
            {{"job", look->key},
             {"state", std::string(JobStateName(look->plan.status.state))},
             {"message", look->plan.status.message}});
      }
    } else if (result.kind != WriteResult::Kind::kDone) {
      Log(LogLevel::kDebug, result.message, {{"job", look->key}});
      const bool refused = result.kind == WriteResult::Kind::kRefused;
      look->retry = !refused;
      look->after = std::max(look->after, refused ? kRefusedMax : result.after);
    }
    CloseLook(look);
  });
}

void Controller::CloseLook(const std::shared_ptr<Look>& look) {
  const Clock::Time now = executor_.clock().Now();
  metrics_.ObserveReconcile(now - look->begun);
  const std::string& key = look->key;
  if (!look->retry) queue_.Forget(key);
  if (look->after.count() > 0) {
    queue_.AddAfter(key, look->after);  // The server said when.
  } else if (look->retry) {
    queue_.Retry(key);
  }
  if (look->done > 0) queue_.AddAfter(key, kBarrier);
  const auto found = tracked_.find(key);
  if (found != tracked_.end()) {
    const Tracked& tracked = found->second;
    if (look->done > 0 && tracked.refusal.empty()) found->second.refusals = 0;
    if (tracked.refused_until > now) queue_.AddAfter(key, tracked.refused_until - now);
    if (tracked.foreign_until > now) queue_.AddAfter(key, tracked.foreign_until - now);
  }
  if (look->plan.wake_at.has_value()) {
    // At least a millisecond: a clock that was set back must not make this a busy loop.
    const Clock::Duration delay = *look->plan.wake_at - executor_.clock().WallNow();
    queue_.AddAfter(key, std::max<Clock::Duration>(delay, milliseconds(1)));
  }
  queue_.Done(key);
  metrics_.SetQueueDepth(queue_.depth());
}

// One event per role for the first pods, however many there are.
void Controller::AnnouncePods(const Look& look, Tracked& tracked) {
  if (look.created.empty()) return;
  if (!tracked.first_pod_observed && look.job->meta.creation_time.has_value()) {
    tracked.first_pod_observed = true;
    if (!look.job->status.start_time.has_value()) {
      metrics_.ObserveFirstPod(std::max<Clock::Duration>(
          executor_.clock().WallNow() - *look.job->meta.creation_time, Clock::Duration::zero()));
    }
  }
  if (tracked.pods_announced || look.job->status.start_time.has_value()) return;
  tracked.pods_announced = true;
  for (const auto& [role, count] : look.created) {
    writer_.Event(look.job->meta, false, "PodsCreated",
                  "created " + std::to_string(count) + " " + std::string(RoleName(role)) +
                      (count == 1 ? " pod" : " pods"));
  }
}

void Controller::ObserveLaunch(const Job& job, const JobStatus& status, Tracked& tracked) {
  if (tracked.all_pods_observed || status.state != JobState::kRunning) return;
  tracked.all_pods_observed = true;
  const bool first_time = job.status.state == JobState::kPending;
  if (!first_time || !job.meta.creation_time.has_value()) return;
  metrics_.ObserveAllPods(std::max<Clock::Duration>(
      executor_.clock().WallNow() - *job.meta.creation_time, Clock::Duration::zero()));
}

void Controller::SchedulePoll(const std::string& key, Tracked& tracked, const JobStatus& status) {
  const bool ended = status.state == JobState::kSucceeded || status.state == JobState::kFailed;
  if (ended) {
    tracked.polled.reset();
    if (tracked.poll_timer != 0) executor_.Cancel(tracked.poll_timer);
    tracked.poll_timer = 0;
    return;
  }
  const bool may_train =
      status.state == JobState::kRunning || status.state == JobState::kRestarting;
  if (!may_train || tracked.poll_timer != 0 || tracked.poll_under_way) return;
  tracked.poll_timer = executor_.PostAfter(
      tracked.polls++ < kFirstPolls ? kFirstPoll : kPollEvery,
      [this, key, alive = std::weak_ptr<bool>(alive_)] {
        if (!alive.expired()) Poll(key);
      });
}

void Controller::Poll(const std::string& key) {
  const auto found = tracked_.find(key);
  const auto job = view_.FindJob(key);
  if (found == tracked_.end() || job == nullptr) return;
  Tracked& tracked = found->second;
  tracked.poll_timer = 0;
  const auto main = MainReplica(job->spec);
  if (!main.has_value() || !job->ledger.has_value()) return;
  const AddressBook addresses(*job, *job->ledger, options_.addresses);
  for (const auto& pod : view_.PodsOf(key)) {
    if (pod->owner_uid != job->meta.uid || pod->role != main->first || pod->index != main->second ||
        pod->phase != PodPhase::kRunning) {
      continue;
    }
    const std::string host = addresses.loopback() ? "127.0.0.1" : pod->ip;
    if (host.empty()) break;
    tracked.poll_under_way = true;
    return poll_.Get(host, addresses.StatusPortOf(main->first, main->second), "/status",
                     [this, key, uid = job->meta.uid, alive = std::weak_ptr<bool>(alive_)](
                         absl::StatusOr<std::string> body) {
                       if (!alive.expired()) OnPolled(key, uid, body);
                     });
  }
  // The main replica does not run: whoever sees it run again schedules the next poll.
  tracked.polled.reset();
}

void Controller::OnPolled(const std::string& key, const std::string& uid,
                          const absl::StatusOr<std::string>& body) {
  const auto found = tracked_.find(key);
  if (found == tracked_.end() || found->second.uid != uid) return;
  Tracked& tracked = found->second;
  tracked.poll_under_way = false;
  std::optional<TrainerReport> report;
  if (body.ok()) report = ParseTrainerReport(*body);
  // On loopback a port may have changed hands.
  if (report.has_value() && !report->uid.empty() && report->uid != uid) report.reset();
  tracked.polled = std::move(report);
  const auto job = view_.FindJob(key);
  if (job != nullptr) SchedulePoll(key, tracked, job->status);
  queue_.Add(key);
}

}  // namespace taas
