#include "operator/controller/controller.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "operator/base/hash.h"
#include "operator/base/log.h"
#include "operator/kube/retry_delay.h"
#include "operator/plan/absent.h"
#include "operator/plan/cluster_map.h"
#include "operator/plan/conditions.h"
#include "operator/plan/gang.h"
#include "operator/plan/other_controller.h"
#include "operator/plan/replicas.h"
#include "operator/plan/status.h"
#include "operator/plan/template_words.h"
#include "operator/plan/tfjob_text.h"

namespace taas {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A plan whose steps were taken is made again after this long, in case the events they cause get
// lost.
constexpr seconds kBarrier{10};
// A status that was refused is tried again after this long, twice as long each time: a right is
// granted, an API server that has just started knows all rights, a CRD is mended.
constexpr RetryDelay::Options kStatusRefused{.first = seconds(5), .limit = seconds(300)};
// How long before ports of 127.0.0.1 are looked for again.
constexpr seconds kPortsTime{30};
// Writes of one look that are under way together. A pod's request has some kilobytes, so those of a
// large job at once would take as many megabytes; the transport sends fewer.
constexpr int kUnderWayMax = 64;

// Done within some milliseconds. A job that has pods and wants no more than these is repaired;
// whoever wants more is launched, and that takes its turn behind those that were there before.
constexpr size_t kFewWrites = 4;

// A job whose look has failed so often in a row, for half a second by then, is spoken of in the
// log, and after each so many failures more.
constexpr uint32_t kFailuresToTell = 8;

// Jobs that are still to be spoken of, by a standby when it leads; of more than these one is told
// at its next change.
constexpr size_t kUnreadableMax = 1000;

// 128 bits that nobody guesses.
std::string DrawToken(Random& random) {
  const std::string half = HexOf(random.Next());
  return half + HexOf(random.Next());
}

bool HasLedgerStep(const Plan& plan) {
  return !plan.steps.empty() && std::holds_alternative<WriteLedger>(plan.steps.front());
}

// The server has read the object and takes it for none: quota and rights have other reasons.
bool IsAboutFields(const WriteResult& result) {
  return result.reason == "BadRequest" || result.reason == "Invalid";
}

bool Creates(const Step& step) {
  return std::holds_alternative<CreatePod>(step) || std::holds_alternative<CreateService>(step) ||
         std::holds_alternative<CreatePodGroup>(step) ||
         std::holds_alternative<CreateConfigMap>(step);
}

bool IsLaunch(const Plan& plan, size_t pods) {
  const size_t creates = std::count_if(plan.steps.begin(), plan.steps.end(), Creates);
  return creates > kFewWrites || (creates > 0 && pods == 0);
}

// Whether the plan says that the job has ended, and nobody has said so yet.
bool TellsTheEnd(const Job& job, const Plan& plan) {
  return plan.status.completion_time.has_value() && !job.status.completion_time.has_value() &&
         !HasLedgerStep(plan) && !plan.hands_off && !job.meta.deletion_time.has_value();
}

// By us or by another controller: it may run, or have ended well.
bool HasBegun(const Job& job) {
  const std::vector<Condition>& conditions = job.status.conditions;
  return job.ledger.has_value() ||
         std::any_of(conditions.begin(), conditions.end(), [](const Condition& condition) {
           return condition.reason != kFailedValidation;
         });
}

ClusterView::Options ViewOptions(const Controller::Options& options) {
  ClusterView::Options view = options.view;
  if (options.gang.scheduler == GangScheduler::kVolcano) {
    view.pod_groups = Resource::kVolcanoPodGroups;
  } else if (options.gang.scheduler == GangScheduler::kCoscheduling) {
    view.pod_groups = Resource::kCoschedulingPodGroups;
  }
  return view;
}

// Under a quota of few pods those are made that training begins with, and not in their place some
// that would wait for them. Where there are no servers, none begins without all.
bool MakesCorePod(const Job& job, const Step& step) {
  const auto* make = std::get_if<CreatePod>(&step);
  return make != nullptr && HasServers(job.spec) &&
         IsCore(job.spec, make->pod.role, make->pod.index);
}

bool MakesFurtherPod(const Job& job, const Step& step) {
  const auto* make = std::get_if<CreatePod>(&step);
  return make != nullptr && HasServers(job.spec) &&
         !IsCore(job.spec, make->pod.role, make->pod.index);
}

}  // namespace

struct Controller::Look {
  std::string key;
  std::shared_ptr<const Job> job;
  Plan plan;
  Clock::Time begun;
  std::vector<size_t> to_send;  // Indices of the plan's steps; none is copied.
  size_t sent = 0;
  int under_way = 0;
  int core_under_way = 0;     // Of those the pods that training begins with.
  bool core_lacking = false;  // One of them was not made, or is not to be tried yet.
  bool sending = false;
  int done = 0;
  bool retry = false;
  bool noted = false;    // The ledger was written.
  bool refused = false;  // A write of it was: the next look knows, and says so.
  std::string why;  // Of a retry: what did not work last.
  bool status_sent = false;
  size_t pods = 0;
  seconds after{0};
  JobReporter::Changes changes;
};

Controller::Controller(KubeTransport& transport, Executor& executor, Random& random,
                       PollTransport& poll, PortSource& ports, Metrics& metrics, Options options)
    : executor_(executor),
      random_(random),
      ports_(ports),
      metrics_(metrics),
      options_(std::move(options)),
      leads_(!options_.standby),
      queue_(executor, options_.queue, [this](const std::string& key) { Process(key); }),
      view_(transport, executor, random, ViewOptions(options_),
            [this](const std::string& key, ClusterView::Haste haste) {
              Hear(key);
              const bool gather = haste == ClusterView::Haste::kWithItsLike;
              queue_.AddAfter(key, PaceOf(gather ? Change::kPodsMove : Change::kAny).gather);
              metrics_.SetQueueDepth(queue_.depth());
            }),
      api_(transport),
      objects_(api_, view_),
      writer_(api_, executor.clock(), view_),
      events_(api_, executor.clock(), random),
      reporter_(events_, executor.clock()),
      poller_(executor, poll, view_, options_.addresses,
              [this](const std::string& key) { queue_.Add(key); }) {
  view_.set_on_unreadable(
      [this](const Job& job, const std::string& why) { OnUnreadable(job, why); });
  view_.set_on_orphan([this](const Pod& pod) { OnOrphan(pod); });
}

Controller::~Controller() = default;

void Controller::Start() { view_.Start(); }

void Controller::Lead(int64_t epoch) {
  leads_ = true;
  epoch_ = epoch;
  view_.Lead(epoch);
  for (const auto& job : view_.Jobs()) queue_.Add(ClusterView::KeyOf(*job));
  metrics_.SetQueueDepth(queue_.depth());
  for (const auto& [key, what] : std::exchange(unreadable_, {})) {
    OnUnreadable(what.first, what.second);
  }
}

void Controller::Follow(const std::string& key) {
  const std::shared_ptr<const Job> job = view_.FindJob(key);
  if (job != nullptr) view_.ForgetCounted(*job);
  if (job != nullptr) unreadable_.erase(key);
  queue_.Forget(key);
  queue_.Done(key);
}

void Controller::OnUnreadable(const Job& job, const std::string& why) {
  const std::string key = ClusterView::KeyOf(job);
  unreadable_.erase(key);
  // What we would call invalid may run well under the one that is at work on it.
  if (job.other_controller.has_value() && !job.ledger.has_value() && !options_.adopt) return;
  // And that one may be about although no job of its own has been looked at yet.
  const Snapshot seen{.job = job,
                      .now = executor_.clock().WallNow(),
                      .adopt = options_.adopt,
                      .other_controller_about = true};
  const auto others_until = WaitsForOtherUntil(seen);
  if (leads_ && !others_until.has_value()) return TellUnreadable(job, why);
  // One that was deleted is still there: nobody tells of the end of what could not be read.
  if (unreadable_.size() >= kUnreadableMax) unreadable_.erase(unreadable_.begin());
  unreadable_.emplace(key, std::pair(job, why));
  if (leads_) queue_.AddAfter(key, *others_until - seen.now);
}

void Controller::LookAtUnreadable(const std::string& key) {
  queue_.Forget(key);
  const auto found = unreadable_.extract(key);
  if (!found.empty()) OnUnreadable(found.mapped().first, found.mapped().second);
  queue_.Done(key);
}

void Controller::TellUnreadable(const Job& job, const std::string& why) {
  // One that has begun is left as it is: its spec may be mended.
  const bool invalid = job.kind == JobKind::kTfJob && !HasBegun(job);
  const std::string text =
      invalid ? "TFJob " + job.meta.ns + "/" + job.meta.name +
                    " cannot run: the spec is invalid: " + why
              : "this job cannot be read, so nothing is done for it: " + why;
  // Said already. The CRD of an earlier operator has no place for status.message.
  const std::vector<Condition>& conditions = job.status.conditions;
  const bool told = invalid ? !conditions.empty() && conditions.back().message == text
                            : job.status.message == text;
  if (told) return;
  Log(LogLevel::kError, "job cannot be read", {{"job", ClusterView::KeyOf(job)}, {"why", why}});
  if (invalid) {
    writer_.PatchInvalid(job.meta, job.kind, text);
  } else {
    writer_.PatchMessage(job.meta, job.kind, text);
  }
}

// The garbage collector has deleted it, and it stays for Kueue's sake only.
void Controller::OnOrphan(const Pod& pod) {
  // Whoever comes to lead is told of all.
  if (!leads_ || options_.gang.scheduler != GangScheduler::kKueue || !IsHeldBack(pod)) return;
  const std::string name = pod.meta.ns + "/" + pod.meta.name;
  objects_.Release({.ns = pod.meta.ns,
                    .name = pod.meta.name,
                    .uid = pod.meta.uid,
                    .resource_version = pod.meta.resource_version},
                   [name](const WriteResult& result) {
                     if (result.kind == WriteResult::Kind::kDone) return;
                     Log(LogLevel::kWarning, result.message, {{"pod", name}});
                   });
}

Controller::Tracked& Controller::TrackedOf(const std::string& key, const Job& job) {
  const auto found = tracked_.find(key);
  if (found != tracked_.end() && found->second.uid != job.meta.uid) Forget(key);
  const auto [entry, is_new] = tracked_.try_emplace(key);
  Tracked& tracked = entry->second;
  if (is_new) {
    const auto heard = heard_.extract(key);
    tracked.counted.Hear(job, heard.empty() ? executor_.clock().WallNow() : heard.mapped());
  }
  tracked.uid = job.meta.uid;
  if (tracked.generation != job.meta.generation) {
    tracked.generation = job.meta.generation;
    tracked.obstacles.ForgetRefusal();
    tracked.template_warnings = {};
    tracked.status_refusals = 0;
    tracked.status_refused_until = {};
  }
  return tracked;
}

Controller::Tracked* Controller::SameJob(const Look& look) {
  const auto found = tracked_.find(look.key);
  const bool same = found != tracked_.end() && found->second.uid == look.job->meta.uid;
  return same ? &found->second : nullptr;
}

void Controller::Hear(const std::string& key) {
  if (!leads_ || !view_.synced() || tracked_.contains(key)) return;
  heard_.try_emplace(key, executor_.clock().WallNow());
}

void Controller::Forget(const std::string& key) {
  poller_.Forget(key);
  heard_.erase(key);
  const auto found = tracked_.find(key);
  if (found == tracked_.end()) return;
  found->second.counted.Leave(metrics_);
  if (found->second.hands_off) CountHandsOff(-1);
  tracked_.erase(found);
}

int64_t Controller::LaterEpochOf(const Job& job) const {
  if (epoch_ == 0) return 0;
  int64_t highest = 0;
  for (const auto& pod : view_.PodsOf(job)) {
    if (pod->owner_uid == job.meta.uid) highest = std::max(highest, pod->epoch);
  }
  for (const auto& service : view_.ServicesOf(job)) {
    if (service->owner_uid == job.meta.uid) highest = std::max(highest, service->epoch);
  }
  return highest > std::max(epoch_, disproved_) ? highest : 0;
}

void Controller::Process(const std::string& key) {
  metrics_.SetQueueDepth(queue_.depth());
  if (!leads_) return Follow(key);
  const std::shared_ptr<const Job> job = view_.synced() ? view_.FindJob(key) : nullptr;
  // A job whose manifest leaves it to another controller is as good as none.
  if (job == nullptr || !job->spec.managed_by.empty()) {
    Forget(key);
    return LookAtUnreadable(key);
  }
  // A new job, and one of many may be: those that are under way go first.
  if (!job->ledger.has_value() && !queue_.GoSlow(key)) return queue_.Done(key);
  unreadable_.erase(key);
  view_.ForgetCounted(*job);
  auto look = std::make_shared<Look>();
  look->key = key;
  look->job = job;
  look->begun = executor_.clock().Now();
  if (const int64_t later = LaterEpochOf(*job); later > 0) {
    Log(LogLevel::kWarning, "an object of the job tells of a later leader",
        {{"job", key}, {"epoch", std::to_string(later)}, {"own", std::to_string(epoch_)}});
    options_.on_later_epoch(later);
    look->retry = true;
    return CloseLook(look);
  }
  PlanAndExecute(look);
}

void Controller::PlanAndExecute(const std::shared_ptr<Look>& look) {
  const std::string& key = look->key;
  Tracked& tracked = TrackedOf(key, *look->job);
  // The one place where the operator's own mistakes end: a job that breaks an invariant must not
  // take the others' operator down.
  try {
    Snapshot snapshot = TakeSnapshot(key, *look->job, tracked);
    look->pods = snapshot.pods.size();
    look->plan = MakePlan(snapshot);
  } catch (const std::exception& error) {
    return OnInternalError(look, error.what());
  }
  if (IsLaunch(look->plan, look->pods) && !queue_.GoSlow(key)) return queue_.Done(key);
  if (tracked.obstacles.ledger_refused() && HasLedgerStep(look->plan)) {
    // Nothing may be said that the stored ledger does not know, but what is in the way.
    look->plan.steps.erase(look->plan.steps.begin());
    look->plan.status = look->job->status;
    look->plan.status.message = tracked.obstacles.refusal();
  }
  KeepHandsOff(*look, tracked);
  const Clock::WallTime now = executor_.clock().WallNow();
  tracked.counted.SetState(metrics_, ScopeOf(*look->job), look->plan.status.state, now);
  tracked.counted.SetGpus(metrics_, *look->job, look->plan.status);
  const std::optional<TrainerReport> report = poller_.ReportOf(key);
  tracked.counted.SetGpuSums(metrics_, *look->job, look->plan.status,
                             report.has_value() ? &report->gpus : nullptr);
  tracked.counted.SetRankTimes(metrics_, *look->job, look->plan.status,
                               report.has_value() ? &report->rank_times : nullptr);
  tracked.counted.Launched(metrics_, look->plan.status, now);
  const bool ours = !look->plan.hands_off && look->job->spec.managed_by.empty();
  if (ours) tracked.counted.SetWaiting(metrics_, ScopeOf(*look->job), look->plan.status, now);
  poller_.Follow(key, *look->job, look->plan.status);
  Execute(look);
}

void Controller::CountHandsOff(int jobs) {
  hands_off_ += jobs;
  metrics_.AddHandsOff(jobs);
}

void Controller::KeepHandsOff(const Look& look, Tracked& tracked) {
  const bool hands_off = look.plan.hands_off;
  if (hands_off != tracked.hands_off) CountHandsOff(hands_off ? 1 : -1);
  tracked.hands_off = hands_off;
  if (!hands_off) return;
  reporter_.Once(*look.job, tracked.told, "AnotherController", "AnotherController",
                 look.plan.status.message);
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
  reporter_.Once(*look->job, tracked.told, "InternalError", "InternalError",
                 look->plan.status.message);
  const Job& job = *look->job;
  if (!StatusDiffers(job, look->plan.status, kept_[job.kind])) return CloseLook(look);
  WriteStatus(look, /*decision=*/true);
}

Snapshot Controller::TakeSnapshot(const std::string& key, const Job& job, Tracked& tracked) {
  Snapshot snapshot;
  snapshot.job = job;
  for (const auto& pod : view_.PodsOf(job)) {
    snapshot.pods.push_back(*pod);
    if (view_.IsLate(*pod)) snapshot.late.insert(pod->meta.uid);
    if (const auto time = view_.DeletingFor(*pod)) snapshot.deleting_for[pod->meta.uid] = *time;
  }
  snapshot.epoch = epoch_;
  snapshot.gone = view_.GoneOf(job.meta.uid);
  TakeIncredibleNumbers(snapshot);
  for (const auto& service : view_.ServicesOf(job)) {
    snapshot.services[service->meta.name] = ViewOf(*service);
  }
  if (const auto group = view_.PodGroupOf(job)) snapshot.pod_group = ViewOf(*group);
  const Clock::Time now = executor_.clock().Now();
  tracked.obstacles.Expire(now);
  tracked.obstacles.Complete(snapshot);
  ClusterMapMemory& made = tracked.cluster_map;
  snapshot.cluster_map = made.Believed(AnyLacks(snapshot.pods, made.name()), now);
  snapshot.now = executor_.clock().WallNow();
  snapshot.addresses = options_.addresses;
  if (!job.ledger.has_value() || job.ledger->token.empty()) {
    snapshot.fresh_token = DrawToken(random_);
  }
  snapshot.polled = poller_.ReportOf(key);
  const std::string& refusal = tracked.obstacles.refusal();
  snapshot.refusal = refusal.empty() ? view_.FlawOf(job) : refusal;
  snapshot.template_warning = tracked.template_warnings.KnownOf(job);
  snapshot.default_image = options_.trainer_image;
  snapshot.cuda_image = options_.trainer_cuda_image;
  snapshot.gpu_resource = options_.gpu_resource;
  snapshot.legacy_labels = options_.legacy_labels;
  snapshot.gang = options_.gang;
  snapshot.adopt = options_.adopt;
  snapshot.other_controller_about = hands_off_ > 0;
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
    plan.wake_at = snapshot.now + kPortsTime;
  }
  return plan;
}

std::set<int32_t> Controller::PortsInUse() const {
  std::set<int32_t> ports;
  for (const auto& job : view_.Jobs()) {
    if (!job->ledger.has_value() || job->ledger->outcome.has_value()) continue;
    for (const auto& [role, entries] : job->ledger->replicas) {
      for (const auto& [index, entry] : entries) ports.insert({entry.port, entry.status_port});
    }
  }
  return ports;
}

bool Controller::IsHeld(const Job& job, const Tracked& tracked, const Step& step) {
  if (Creates(step)) return tracked.obstacles.Holds(step);
  // Whoever waits for the end of the job sees it before the job goes.
  return std::holds_alternative<DeleteJob>(step) && !job.status.completion_time.has_value();
}

void Controller::Execute(const std::shared_ptr<Look>& look) {
  Tracked& tracked = tracked_.at(look->key);
  const std::vector<Step>& steps = look->plan.steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (const auto* conflict = std::get_if<ReportConflict>(&steps[i])) {
      reporter_.Conflict(*look->job, tracked.told, *conflict);
    } else if (!IsHeld(*look->job, tracked, steps[i])) {
      look->to_send.push_back(i);
    } else if (MakesCorePod(*look->job, steps[i])) {
      look->core_lacking = true;
    }
  }
  // Whoever waits for the end does not wait for what is cleaned up after it, unless that is soon
  // done and one status can tell of both.
  const bool soon = look->to_send.size() <= kFewWrites && queue_.in_flight() <= kFewWrites;
  const bool refused = executor_.clock().Now() < tracked.status_refused_until;
  if (!soon && !refused && TellsTheEnd(*look->job, look->plan)) {
    WriteStatus(look, /*decision=*/true);
  }
  SendMore(look);
}

void Controller::SendMore(const std::shared_ptr<Look>& look) {
  if (look->sending) return;  // A write that was over at once, out of the loop below.
  look->sending = true;
  while (look->under_way < kUnderWayMax && look->sent < look->to_send.size()) {
    const size_t index = look->to_send[look->sent];
    const Step& step = look->plan.steps[index];
    const bool further = MakesFurtherPod(*look->job, step);
    if (further && look->core_under_way > 0) break;
    ++look->sent;
    // What lacks is tried again, and this with it.
    if (further && look->core_lacking) continue;
    ++look->under_way;
    if (MakesCorePod(*look->job, step)) ++look->core_under_way;
    // As in PlanAndExecute: what cannot even be sent is refused by ourselves.
    try {
      Send(look, index);
    } catch (const std::exception& error) {
      OnWritten(look, step,
                {.kind = WriteResult::Kind::kRefused, .message = "internal error: " +
                                                                 std::string(error.what())});
    }
  }
  look->sending = false;
  if (look->under_way == 0) Finish(look);
}

void Controller::Send(const std::shared_ptr<Look>& look, size_t index) {
  const auto done = [this, look, index](const WriteResult& result) {
    OnWritten(look, look->plan.steps[index], result);
  };
  const Step& step = look->plan.steps[index];
  const Job& job = *look->job;
  if (const auto* ledger = std::get_if<WriteLedger>(&step)) {
    writer_.PatchLedger(job, ledger->ledger, done);
  } else if (const auto* make_pod = std::get_if<CreatePod>(&step)) {
    objects_.Create(job.meta, *make_pod, done);
  } else if (const auto* make_service = std::get_if<CreateService>(&step)) {
    objects_.Create(job.meta, *make_service, done);
  } else if (const auto* drop_pod = std::get_if<DeletePod>(&step)) {
    Log(LogLevel::kInfo, "delete pod",
        {{"job", look->key}, {"pod", drop_pod->name}, {"why", drop_pod->why}});
    objects_.Delete(*drop_pod, done);
  } else if (const auto* drop_service = std::get_if<DeleteService>(&step)) {
    objects_.Delete(*drop_service, done);
  } else if (const auto* make_map = std::get_if<CreateConfigMap>(&step)) {
    objects_.Create(*make_map, done);
  } else if (const auto* make_group = std::get_if<CreatePodGroup>(&step)) {
    objects_.Create(job.meta, *make_group, done);
  } else if (const auto* change_group = std::get_if<UpdatePodGroup>(&step)) {
    objects_.Update(*change_group, done);
  } else if (const auto* drop_group = std::get_if<DeletePodGroup>(&step)) {
    Log(LogLevel::kInfo, "delete PodGroup", {{"job", look->key}, {"why", drop_group->why}});
    objects_.Delete(*drop_group, done);
  } else if (const auto* release = std::get_if<ReleasePod>(&step)) {
    objects_.Release(*release, done);
  } else if (const auto* adopt = std::get_if<Adopt>(&step)) {
    Log(LogLevel::kInfo, "take over", {{"job", look->key}, {"object", adopt->name}});
    objects_.TakeOver(*adopt, done);
  } else if (const auto* drop_job = std::get_if<DeleteJob>(&step)) {
    Log(LogLevel::kInfo, "delete job", {{"job", look->key}, {"why", drop_job->why}});
    objects_.Delete(*drop_job, done);
  }
}

void Controller::OnWritten(const std::shared_ptr<Look>& look, const Step& step,
                           const WriteResult& result) {
  switch (result.kind) {
    case WriteResult::Kind::kDone:
      OnDone(*look, step, result);
      break;
    case WriteResult::Kind::kTaken:
      OnTaken(*look, result);
      break;
    case WriteResult::Kind::kRefused:
      OnRefused(*look, step, result);
      break;
    case WriteResult::Kind::kReplan:
    case WriteResult::Kind::kLater:
      Log(LogLevel::kDebug, result.message, {{"job", look->key}});
      look->retry = true;
      look->why = result.message;
      look->after = std::max(look->after, result.after);
      break;
  }
  --look->under_way;
  if (MakesCorePod(*look->job, step)) {
    --look->core_under_way;
    if (result.kind != WriteResult::Kind::kDone) look->core_lacking = true;
  }
  SendMore(look);
}

void Controller::OnPodMade(Look& look, const CreatePod& made, const WriteResult& result) {
  look.changes.pods_made.push_back(
      {.name = made.pod.name, .role = made.pod.role, .pod_number = made.pod.pod_number});
  Tracked* tracked = SameJob(look);
  if (tracked == nullptr) return;
  tracked->counted.PodMade(metrics_, executor_.clock().WallNow());
  const Role role = made.pod.role;
  if (!tracked->template_warnings.Hear(*look.job, role, result.warning)) return;
  // Of a spec that is mended wrongly again is told again.
  const std::string cause = "TemplateWarning/" + std::string(RoleName(role)) + "/" +
                            std::to_string(look.job->meta.generation);
  reporter_.Once(*look.job, tracked->told, cause, std::string(kTemplateWarningCondition),
                 tracked->template_warnings.Of(role).text);
}

void Controller::OnDone(Look& look, const Step& step, const WriteResult& result) {
  ++look.done;
  if (Tracked* tracked = SameJob(look)) tracked->obstacles.Progress(step);
  JobReporter::Changes& changes = look.changes;
  if (const auto* ledger = std::get_if<WriteLedger>(&step)) {
    look.noted = true;
    CountRestarts(metrics_, *look.job, ledger->ledger);
    JobReporter::Memory forgotten;
    Tracked* tracked = SameJob(look);
    reporter_.Noted(*look.job, tracked == nullptr ? forgotten : tracked->told, ledger->notes);
  } else if (const auto* made = std::get_if<CreatePod>(&step)) {
    OnPodMade(look, *made, result);
  } else if (const auto* service = std::get_if<CreateService>(&step)) {
    changes.services_made.push_back(service->name);
  } else if (const auto* map = std::get_if<CreateConfigMap>(&step)) {
    if (Tracked* tracked = SameJob(look)) {
      tracked->cluster_map.Remember(map->name, executor_.clock().Now());
    }
    queue_.Add(look.key);  // No watch tells of it.
  } else if (const auto* pod = std::get_if<DeletePod>(&step)) {
    changes.pods_deleted.push_back(pod->name);
  }
}

void Controller::OnTaken(const Look& look, const WriteResult& result) {
  Tracked* tracked = SameJob(look);
  if (tracked == nullptr) return;
  tracked->obstacles.Take(result, executor_.clock().Now());
  queue_.Add(look.key);
}

void Controller::OnRefused(Look& look, const Step& step, WriteResult result) {
  Tracked* tracked = SameJob(look);
  const auto* pod = std::get_if<CreatePod>(&step);
  // All pods of a look are refused for the same: the fields are looked for once.
  if (tracked != nullptr && pod != nullptr && !look.refused && IsAboutFields(result)) {
    result.message = TellRefusal(*look.job, pod->pod.role, result.message);
  }
  Log(LogLevel::kWarning, result.message, {{"job", look.key}});
  if (tracked == nullptr) return;
  const Clock::Time now = executor_.clock().Now();
  if (!tracked->obstacles.Refuse(step, result, look.begun, now)) return;
  look.refused = true;
  reporter_.Refused(*look.job, tracked->told, step, result);
  queue_.Add(look.key);
}

void Controller::Finish(const std::shared_ptr<Look>& look) {
  if (Tracked* tracked = SameJob(*look)) {
    reporter_.Changed(*look->job, tracked->told, std::exchange(look->changes, {}));
    const auto tell_again =
        reporter_.Hindered(*look->job, tracked->told, look->plan.hindrances);
    if (tell_again.has_value()) {
      queue_.AddAfter(look->key, std::max<Clock::Duration>(*tell_again, milliseconds(1)));
    }
    // A job that is changing is looked at again at once; its status is written when it is quiet.
    // One that was refused something says so after the next look, at once.
    const bool quiet = look->done == 0 && !look->refused &&
                       !look->job->meta.deletion_time.has_value();
    if (quiet && !HasLedgerStep(look->plan) && !look->status_sent) {
      const auto turn = TurnOfStatus(
          *look->job, look->plan.status, kept_[look->job->kind],
          {.clock = executor_.clock(), .launching = queue_.OthersAreSlow(look->key)},
          &tracked->status_writes);
      if (turn.has_value()) {
        const auto refused_for = tracked->status_refused_until - executor_.clock().Now();
        const auto delay = std::max<Clock::Duration>(turn->delay, refused_for);
        if (delay <= Clock::Duration::zero()) return WriteStatus(look, turn->decision);
        queue_.AddAfter(look->key, delay);
      }
    }
  }
  CloseLook(look);
}

// One more write of the look, with which or after which all else is done.
void Controller::WriteStatus(const std::shared_ptr<Look>& look, bool decision) {
  look->status_sent = true;
  ++look->under_way;
  KeptFields& kept = kept_[look->job->kind];
  const auto done = [this, look](const WriteResult& result) {
    Tracked* tracked = SameJob(*look);
    if (result.kind == WriteResult::Kind::kDone && tracked != nullptr) {
      tracked->status_refusals = 0;
      tracked->status_writes = {.any = true, .last = executor_.clock().Now()};
      // Where the state is not kept, each write would seem to change it.
      const bool changed = look->job->status.state != look->plan.status.state;
      if (changed && kept_[look->job->kind].Keeps("state")) {
        Log(LogLevel::kInfo, "job state changed",
            {{"job", look->key},
             {"state", std::string(JobStateName(look->plan.status.state))},
             {"why", look->plan.status.message}});
      }
    } else if (result.kind == WriteResult::Kind::kRefused) {
      // Where it would be said is what cannot be written.
      Log(LogLevel::kWarning, result.message, {{"job", look->key}});
      if (tracked != nullptr) {
        const auto delay = RetryDelay(kStatusRefused).After(++tracked->status_refusals);
        tracked->status_refused_until = executor_.clock().Now() + delay;
        queue_.AddAfter(look->key, delay);
      }
    } else if (result.kind != WriteResult::Kind::kDone) {
      Log(LogLevel::kDebug, result.message, {{"job", look->key}});
      look->retry = true;
      look->why = result.message;
      look->after = std::max(look->after, result.after);
    }
    --look->under_way;
    SendMore(look);
  };
  if (look->plan.hands_off) {
    writer_.PatchRefusal(*look->job, look->plan.status, kept, done);
  } else {
    writer_.PatchStatus(*look->job, look->plan.status, kept,
                        decision ? Order::kFirst : Order::kInTurn, done);
  }
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
    const uint32_t failures = queue_.failures(key);
    if (failures % kFailuresToTell == 0 && !look->why.empty()) {
      Log(LogLevel::kWarning, "will try again",
          {{"job", key}, {"failures", std::to_string(failures)}, {"why", look->why}});
    }
  }
  if (look->done > 0) queue_.AddAfter(key, kBarrier);
  const auto found = tracked_.find(key);
  if (found != tracked_.end()) {
    Obstacles& obstacles = found->second.obstacles;
    const auto after = obstacles.LookAgainAfter(now);
    if (after.has_value()) queue_.AddAfter(key, *after);
    const auto doubt = found->second.cluster_map.LookAgainAfter(now);
    if (doubt.has_value()) queue_.AddAfter(key, std::max<Clock::Duration>(*doubt, milliseconds(1)));
  }
  if (look->plan.wake_at.has_value()) {
    // At least a millisecond: a clock that was set back must not make this a busy loop.
    const Clock::Duration delay = *look->plan.wake_at - executor_.clock().WallNow();
    queue_.AddAfter(key, std::max<Clock::Duration>(delay, milliseconds(1)));
  }
  // What is now noted is done, or told, next.
  if (look->noted && !look->retry) {
    queue_.DoneGoOn(key);
  } else {
    queue_.Done(key, RestAfter(look->pods));
  }
  metrics_.SetQueueDepth(queue_.depth());
}

}  // namespace taas
