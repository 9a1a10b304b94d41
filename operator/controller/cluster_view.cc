#include "operator/controller/cluster_view.h"

#include <algorithm>
#include <initializer_list>
#include <tuple>
#include <utility>

#include "operator/api/dialect.h"
#include "operator/api/job_codec.h"
#include "operator/api/validation.h"
#include "operator/base/log.h"
#include "operator/kube/json_slice.h"
#include "operator/kube/resource_version.h"
#include "operator/plan/replicas.h"

namespace taas {
namespace {

// What a TFJob without managedBy belongs to; so it is ours.
constexpr std::string_view kTrainingOperator = "kubeflow.org/training-operator";
constexpr JobKind kKinds[] = {JobKind::kTrainingJob, JobKind::kTfJob};

// Jobs of both kinds may have one name; their pods and services would be under it, too.
std::string IndexOf(const std::string& ns, const std::string& job) { return ns + "/" + job; }

std::string_view PrefixOf(JobKind kind) {
  return kind == JobKind::kTfJob ? "tfjob/" : "trainingjob/";
}

// A TFJob of another controller's is not ours to speak about, whatever it says.
bool IsManagedByOthers(std::string_view text) {
  for (const char* key : {"spec", "runPolicy", "managedBy"}) {
    const auto member = FindMember(text, key);
    if (!member.ok() || !member->has_value()) return false;
    text = **member;
  }
  const absl::StatusOr<std::string> name = StringOf(text);
  return name.ok() && *name != kTrainingOperator;
}

// What the rules of the kind say against a stored object; empty: nothing. Under a CRD without them
// (an earlier operator's) anything can be stored.
std::string BrokenRulesOf(JobKind kind, std::string_view text) {
  const std::vector<FieldError> errors = ValidateStored(kind, text);
  return errors.empty() ? "" : FormatFieldErrors(errors);
}

// `text` with `value` for what stands at `path`, if anything does; nothing is made of the rest,
// which may be as deep as it likes. What is no object stays as it is, for its decoder to say so.
std::string With(std::string_view text, std::initializer_list<std::string_view> path,
                 std::string_view value) {
  std::string_view part = text;
  for (const std::string_view key : path) {
    const auto member = FindMember(part, key);
    if (!member.ok() || !member->has_value()) return std::string(text);
    part = **member;
  }
  const size_t begin = part.data() - text.data();
  std::string out(text.substr(0, begin));
  return out.append(value).append(text.substr(begin + part.size()));
}

// Who wrote which field takes as much room as the job itself, and only of TFJobs, which may have
// another controller, it is asked.
std::string WithoutWriters(std::string_view text) {
  return With(text, {"metadata", "managedFields"}, "[]");
}

// The same object with a spec that can be read, whatever stands there or in what belongs to it.
std::string WithPlainSpec(JobKind kind, std::string_view text) {
  const std::string_view spec =
      kind == JobKind::kTfJob ? R"({"tfReplicaSpecs":{"Worker":{"template":{"spec":{"containers":[
                                    {"name":"tensorflow","image":"i"}]}}}}})"
                              : R"({"roles":{"worker":{}},"trainer":{"model":{"name":"mlp"}}})";
  return With(With(text, {"spec"}, spec),
              {"metadata", "annotations", kPendingDeadlineAnnotation}, "null");
}

// No pod is made of this version of it: it has ended, or its ledger says that it is suspended.
bool MakesNoPods(const Job& job) {
  if (!job.ledger.has_value()) return false;
  return job.ledger->outcome.has_value() || (job.spec.suspend && job.ledger->suspended);
}

// An assignment would keep the room that the text has.
void Release(std::string* text) { std::string().swap(*text); }

// A job may have 1.5 MB, nearly all of it what its pods are made of. That comes again with the
// version of the job that resumes it.
void ForgetPodParts(JobSpec* spec) {
  for (auto& [role, of_role] : spec->roles) {
    for (std::string* part : {&of_role.pod_template, &of_role.env, &of_role.env_from,
                              &of_role.resources}) {
      Release(part);
    }
  }
  for (VolumeSpec& volume : spec->volumes) Release(&volume.source);
  Release(&spec->trainer.config);
}

bool Succeeds(const Pod& before, const Pod& after) {
  return after.phase == PodPhase::kSucceeded && before.phase != PodPhase::kSucceeded;
}

const std::string& WaitingFor(const Pod& pod) {
  static const std::string nothing;
  return IsOrdinaryWait(pod.waiting_reason) ? nothing : pod.waiting_reason.str();
}

const std::string& InitWaitingFor(const Pod& pod) {
  static const std::string nothing;
  const bool waits = pod.init != nullptr && !IsOrdinaryWait(pod.init->waiting_reason);
  return waits ? pod.init->waiting_reason : nothing;
}

// It gets a node, an address, runs, is ready: nothing that the plan has to do anything about.
bool Starts(const Pod& before, const Pod& after) {
  const auto trouble = [](const Pod& pod) {
    return std::tie(pod.reason, WaitingFor(pod), InitWaitingFor(pod), pod.unschedulable_reason,
                    pod.restart_count, pod.disrupted, pod.node_silent, pod.node_lost,
                    pod.container_ended, pod.meta.deletion_time, pod.owner_uid, pod.job);
  };
  const auto is_under_way = [](PodPhase phase) {
    return phase == PodPhase::kPending || phase == PodPhase::kRunning;
  };
  return is_under_way(before.phase) && is_under_way(after.phase) && after.phase >= before.phase &&
         after.ready >= before.ready && trouble(before) == trouble(after);
}

}  // namespace

Resource ResourceOf(JobKind kind) {
  return kind == JobKind::kTfJob ? Resource::kTfJobs : Resource::kTrainingJobs;
}

// One kind in one namespace, or in all.
struct ClusterView::JobsOfKind {
  Store<Job> store;
  std::unique_ptr<Reflector<Job>> reflector;
};

// One namespace, or all: a reflector replaces the whole content of its store, so each has its own.
struct ClusterView::Scope {
  Scope()
      : pods([](const Pod& pod) { return IndexOf(pod.meta.ns, pod.job); }),
        services([](const OwnedObject& service) { return IndexOf(service.meta.ns, service.job); }) {
  }

  std::map<JobKind, std::unique_ptr<JobsOfKind>> jobs;
  Store<Pod> pods;
  Store<OwnedObject> services;
  Store<PodGroup> pod_groups;
  std::unique_ptr<Reflector<PodGroup>> pod_group_reflector;  // Null: there is no gang scheduler.
  std::unique_ptr<Reflector<Pod>> pod_reflector;
  std::unique_ptr<Reflector<OwnedObject>> service_reflector;
};

ClusterView::ClusterView(KubeTransport& transport, Executor& executor, Random& random,
                         Options options, OnChange on_change)
    : transport_(transport),
      executor_(executor),
      random_(random),
      options_(std::move(options)),
      on_change_(std::move(on_change)) {
  for (const std::string& ns : options_.namespaces) scopes_[ns] = MakeScope(ns);
  if (scopes_.empty()) scopes_[""] = MakeScope("");
}

ClusterView::~ClusterView() = default;

std::unique_ptr<ClusterView::JobsOfKind> ClusterView::MakeJobs(JobKind kind,
                                                               const std::string& ns) {
  auto jobs = std::make_unique<JobsOfKind>();
  jobs->store.set_on_change(
      [this](const auto& before, const auto& after) { OnJob(before, after); });
  jobs->reflector = std::make_unique<Reflector<Job>>(
      transport_, executor_, random_, jobs->store,
      [this, kind](std::string_view json) { return Decode(kind, json); },
      ReflectorOptions{.path = CollectionPath(ResourceOf(kind), ns), .may_be_absent = true});
  jobs->reflector->set_on_undecodable([this, kind](std::string_view json, const absl::Status& why) {
    OnUndecodable(kind, json, why);
  });
  jobs->reflector->set_on_synced([this] { OnSynced(); });
  return jobs;
}

std::unique_ptr<ClusterView::Scope> ClusterView::MakeScope(const std::string& ns) {
  auto scope = std::make_unique<Scope>();
  for (const JobKind kind : options_.kinds) scope->jobs[kind] = MakeJobs(kind, ns);
  scope->pods.set_on_change(
      [this](const auto& before, const auto& after) { OnPod(before, after); });
  scope->services.set_on_change([this](const auto& before, const auto& after) {
    const OwnedObject& service = *(after != nullptr ? after : before);
    Touch(service.meta.ns, service.job);
    TouchFormer(before, after);
  });
  // Everything that is ours carries this label.
  const std::string ours(kJobLabel);
  scope->pod_reflector = std::make_unique<Reflector<Pod>>(
      transport_, executor_, random_, scope->pods, DecodePod,
      ReflectorOptions{.path = CollectionPath(Resource::kPods, ns),
                       .label_selector = ours,
                       .protobuf = true});
  scope->service_reflector = std::make_unique<Reflector<OwnedObject>>(
      transport_, executor_, random_, scope->services, DecodeOwnedObject,
      ReflectorOptions{.path = CollectionPath(Resource::kServices, ns),
                       .label_selector = ours,
                       .protobuf = true});
  if (options_.pod_groups.has_value()) {
    scope->pod_groups.set_on_change([this](const auto& before, const auto& after) {
      const PodGroup& group = *(after != nullptr ? after : before);
      Touch(group.meta.ns, group.meta.name);  // Also one that is in a job's way.
    });
    scope->pod_group_reflector = std::make_unique<Reflector<PodGroup>>(
        transport_, executor_, random_, scope->pod_groups, DecodePodGroup,
        ReflectorOptions{.path = CollectionPath(*options_.pod_groups, ns),
                         .label_selector = ours,
                         .may_be_absent = true});
    scope->pod_group_reflector->set_on_synced([this] { OnSynced(); });
  }
  scope->pod_reflector->set_on_synced([this] { OnSynced(); });
  scope->service_reflector->set_on_synced([this] { OnSynced(); });
  return scope;
}

void ClusterView::Start() {
  for (const auto& [ns, scope] : scopes_) {
    for (const auto& [kind, jobs] : scope->jobs) jobs->reflector->Start();
    scope->pod_reflector->Start();
    scope->service_reflector->Start();
    if (scope->pod_group_reflector != nullptr) scope->pod_group_reflector->Start();
  }
}

void ClusterView::OnSynced() {
  if (synced_) return;
  for (const auto& [ns, scope] : scopes_) {
    for (const auto& [kind, jobs] : scope->jobs) {
      if (!jobs->reflector->synced()) return;
    }
    if (!scope->pod_reflector->synced() || !scope->service_reflector->synced()) return;
    if (scope->pod_group_reflector != nullptr && !scope->pod_group_reflector->synced()) return;
  }
  synced_ = true;
  for (const auto& job : Jobs()) on_change_(KeyOf(*job), Haste::kAtOnce);
  TellOrphans();
}

void ClusterView::TellOrphans() {
  for (const auto& [ns, scope] : scopes_) {
    for (const auto& [key, pod] : scope->pods.objects()) {
      if (IsOrphan(*pod)) on_orphan_(*pod);
    }
  }
}

void ClusterView::Lead(int64_t epoch) {
  epoch_ = epoch;
  TellOrphans();
}

ClusterView::Scope* ClusterView::ScopeOf(const std::string& ns) const {
  auto found = scopes_.find(ns);
  if (found == scopes_.end()) found = scopes_.find("");
  return found == scopes_.end() ? nullptr : found->second.get();
}

const Store<Job>* ClusterView::JobsIn(JobKind kind, const std::string& ns) const {
  const Scope* scope = ScopeOf(ns);
  if (scope == nullptr) return nullptr;
  const auto found = scope->jobs.find(kind);
  return found == scope->jobs.end() ? nullptr : &found->second->store;
}

std::string ClusterView::KeyOf(JobKind kind, const ObjectMeta& job) {
  return std::string(PrefixOf(kind)) + job.ns + "/" + job.name;
}

std::shared_ptr<const Job> ClusterView::FindJob(const std::string& key) const {
  for (const JobKind kind : kKinds) {
    const std::string_view prefix = PrefixOf(kind);
    if (key.rfind(prefix, 0) != 0) continue;
    const std::string object = key.substr(prefix.size());
    const Store<Job>* jobs = JobsIn(kind, object.substr(0, object.find('/')));
    return jobs == nullptr ? nullptr : jobs->Find(object);
  }
  return nullptr;
}

std::vector<std::shared_ptr<const Job>> ClusterView::Jobs() const {
  std::vector<std::shared_ptr<const Job>> out;
  for (const auto& [ns, scope] : scopes_) {
    for (const auto& [kind, jobs] : scope->jobs) {
      for (const auto& [key, job] : jobs->store.objects()) out.push_back(job);
    }
  }
  return out;
}

std::string ClusterView::FlawOf(const Job& job) const {
  const auto found = flaws_.find(KeyOf(job));
  if (found == flaws_.end() || found->second.version != job.meta.resource_version) return "";
  return found->second.text;
}

std::vector<std::shared_ptr<const Pod>> ClusterView::PodsOf(const Job& job) const {
  const Scope* scope = ScopeOf(job.meta.ns);
  if (scope == nullptr) return {};
  return scope->pods.Indexed(IndexOf(job.meta.ns, job.meta.name));
}

std::vector<std::shared_ptr<const OwnedObject>> ClusterView::ServicesOf(const Job& job) const {
  const Scope* scope = ScopeOf(job.meta.ns);
  if (scope == nullptr) return {};
  return scope->services.Indexed(IndexOf(job.meta.ns, job.meta.name));
}

int64_t ClusterView::HighestEpoch() const {
  int64_t highest = 0;
  for (const auto& [ns, scope] : scopes_) {
    for (const auto& [key, pod] : scope->pods.objects()) highest = std::max(highest, pod->epoch);
    for (const auto& [key, service] : scope->services.objects()) {
      highest = std::max(highest, service->epoch);
    }
  }
  return highest;
}

std::shared_ptr<const PodGroup> ClusterView::PodGroupOf(const Job& job) const {
  const Scope* scope = ScopeOf(job.meta.ns);
  return scope == nullptr ? nullptr : scope->pod_groups.Find(job.meta.ns, job.meta.name);
}

std::optional<Clock::Duration> ClusterView::DeletingFor(const Pod& pod) const {
  const auto found = deleting_since_.find(pod.meta.uid);
  if (found == deleting_since_.end()) return std::nullopt;
  return executor_.clock().Now() - found->second;
}

bool ClusterView::HasOwner(const Pod& pod) const {
  for (const JobKind kind : kKinds) {
    const Store<Job>* jobs = JobsIn(kind, pod.meta.ns);
    const auto job = jobs == nullptr ? nullptr : jobs->Find(pod.meta.ns, pod.job);
    if (job != nullptr && job->meta.uid == pod.owner_uid) return true;
  }
  return false;
}

// Of a kind that is not looked at nobody knows which jobs there are.
bool ClusterView::IsOrphan(const Pod& pod) const {
  for (const JobKind kind : kKinds) {
    if (pod.owner_kind != DialectOf(kind).kind_name) continue;
    return JobsIn(kind, pod.meta.ns) != nullptr && !HasOwner(pod);
  }
  return false;
}

std::vector<Pod> ClusterView::GoneOf(const std::string& uid) const {
  const auto found = gone_.find(uid);
  return found == gone_.end() ? std::vector<Pod>() : found->second;
}

void ClusterView::ForgetCounted(const Job& job) {
  const auto found = gone_.find(job.meta.uid);
  if (found == gone_.end() || !job.ledger.has_value()) return;
  std::erase_if(found->second, [&job, &ledger = *job.ledger](const Pod& pod) {
    if (ledger.outcome.has_value()) return true;
    const LedgerReplica* entry = FindReplicaOf(job, ledger, pod);
    if (entry == nullptr) return !pod.role.has_value();
    return entry->completed || entry->pod_number > BelievedNumber(pod, entry);
  });
  if (found->second.empty()) gone_.erase(found);
}

absl::StatusOr<Job> ClusterView::Decode(JobKind kind, std::string_view json) {
  absl::StatusOr<Job> job = kind == JobKind::kTfJob ? DecodeJob(kind, json)
                                                    : DecodeJob(kind, WithoutWriters(json));
  ObjectMeta meta;
  if (job.ok()) {
    job->stored_bytes = json.size();
    meta = job->meta;
  } else {
    absl::StatusOr<OwnedObject> object = DecodeOwnedObject(json);
    if (!object.ok()) return job;
    meta = std::move(object->meta);
  }
  const std::string key = KeyOf(kind, meta);
  std::shared_ptr<const Job> known = FindJob(key);
  if (known != nullptr && known->meta.uid != meta.uid) known = nullptr;
  // The CRD of TrainingJobs is ours and checks what is stored.
  const bool changed = known == nullptr || known->meta.generation != meta.generation;
  if (job.ok() && kind == JobKind::kTfJob && changed && job->spec.managed_by.empty()) {
    const std::string flaw = BrokenRulesOf(kind, json);
    if (!flaw.empty()) job = absl::InvalidArgumentError(flaw);
  }
  if (job.ok()) {
    const auto flaw = flaws_.find(key);
    if (flaw != flaws_.end() && IsLater(meta.resource_version, flaw->second.version)) {
      flaws_.erase(flaw);
    }
    if (MakesNoPods(*job)) ForgetPodParts(&job->spec);
    return job;
  }
  if (known == nullptr) return job;
  absl::StatusOr<Job> kept = DecodeJob(kind, WithPlainSpec(kind, json));
  if (!kept.ok()) return job;
  kept->spec = known->spec;
  // Of the last good spec those parts may be forgotten.
  if (MakesNoPods(*known) && !MakesNoPods(*kept)) return job;
  kept->stored_bytes = json.size();
  // What was acted on last.
  kept->meta.generation = known->meta.generation;
  Flaw& flaw = flaws_[key];
  if (flaw.text != job.status().message()) {
    Log(LogLevel::kWarning, "the job was changed into something invalid; its last good spec stays",
        {{"job", key}, {"why", std::string(job.status().message())}});
  }
  flaw = {.version = meta.resource_version, .text = std::string(job.status().message())};
  return kept;
}

void ClusterView::OnUndecodable(JobKind kind, std::string_view json, const absl::Status& why) {
  if (!on_unreadable_ || IsManagedByOthers(json)) return;
  absl::StatusOr<Job> rest = DecodeJob(kind, WithPlainSpec(kind, json));
  if (!rest.ok()) {
    const auto object = DecodeOwnedObject(json);
    if (!object.ok()) return;
    // It is not the spec that is wrong, and the ledger that it may be says that the job has begun.
    rest = Job{.kind = kind, .meta = object->meta};
    rest->ledger.emplace();
  }
  on_unreadable_(*rest, std::string(why.message()));
}

void ClusterView::OnJob(const std::shared_ptr<const Job>& before,
                        const std::shared_ptr<const Job>& after) {
  if (before != nullptr && (after == nullptr || after->meta.uid != before->meta.uid)) {
    ForgetJob(before->meta.uid);
    for (const auto& pod : PodsOf(*before)) {
      if (synced_ && IsOrphan(*pod)) on_orphan_(*pod);
    }
  }
  const std::string key = KeyOf(*(after != nullptr ? after : before));
  if (after == nullptr) flaws_.erase(key);
  on_change_(key, Haste::kAtOnce);
}

void ClusterView::OnPod(const std::shared_ptr<const Pod>& before,
                        const std::shared_ptr<const Pod>& after) {
  const std::shared_ptr<const Pod>& pod = after != nullptr ? after : before;
  const bool another =
      before == nullptr || after == nullptr || after->meta.uid != before->meta.uid;
  if (another && after != nullptr && after->epoch > 0 && after->epoch < epoch_) {
    late_.insert(after->meta.uid);
  }
  if (after != nullptr && after->meta.deletion_time.has_value()) {
    deleting_since_.try_emplace(after->meta.uid, executor_.clock().Now());
  }
  if (before != nullptr && another) {
    late_.erase(before->meta.uid);
    deleting_since_.erase(before->meta.uid);
    if (HasOwner(*before)) gone_[before->owner_uid].push_back(*before);
  }
  if (synced_ && after != nullptr && IsOrphan(*after)) on_orphan_(*after);
  const bool expected = !another && (Succeeds(*before, *after) || Starts(*before, *after));
  Touch(pod->meta.ns, pod->job, expected ? Haste::kWithItsLike : Haste::kAtOnce);
  TouchFormer(before, after);
}

// The job that an object was of by its label: somebody may have given it to another.
template <typename Object>
void ClusterView::TouchFormer(const Object& before, const Object& after) {
  if (before == nullptr || after == nullptr || before->job == after->job) return;
  Touch(before->meta.ns, before->job);
}

void ClusterView::Touch(const std::string& ns, const std::string& job, Haste haste) {
  for (const JobKind kind : kKinds) {
    const Store<Job>* jobs = JobsIn(kind, ns);
    if (jobs == nullptr || jobs->Find(ns, job) == nullptr) continue;
    on_change_(KeyOf(kind, {.ns = ns, .name = job}), haste);
  }
}

absl::Status ClusterView::ObserveJob(JobKind kind, std::string_view json) {
  absl::StatusOr<Job> job = Decode(kind, json);
  if (!job.ok()) return job.status();
  Scope* scope = ScopeOf(job->meta.ns);
  if (scope != nullptr) scope->jobs.at(kind)->store.Observe(*std::move(job));
  return absl::OkStatus();
}

void ClusterView::Observe(Pod pod) {
  if (Scope* scope = ScopeOf(pod.meta.ns)) scope->pods.Observe(std::move(pod));
}

void ClusterView::Observe(OwnedObject service) {
  if (Scope* scope = ScopeOf(service.meta.ns)) scope->services.Observe(std::move(service));
}

void ClusterView::Observe(PodGroup group) {
  if (Scope* scope = ScopeOf(group.meta.ns)) scope->pod_groups.Observe(std::move(group));
}

void ClusterView::ObserveGone(Resource resource, const std::string& ns, const std::string& name,
                              const std::string& uid) {
  Scope* scope = ScopeOf(ns);
  if (scope == nullptr) return;
  switch (resource) {
    case Resource::kPods:
      return scope->pods.ObserveGone(ns, name, uid);
    case Resource::kServices:
      return scope->services.ObserveGone(ns, name, uid);
    case Resource::kVolcanoPodGroups:
    case Resource::kCoschedulingPodGroups:
      return scope->pod_groups.ObserveGone(ns, name, uid);
    case Resource::kTrainingJobs:
      return scope->jobs.at(JobKind::kTrainingJob)->store.ObserveGone(ns, name, uid);
    case Resource::kTfJobs:
      return scope->jobs.at(JobKind::kTfJob)->store.ObserveGone(ns, name, uid);
    default:
      return;
  }
}

}  // namespace taas
