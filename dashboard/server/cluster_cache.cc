#include "dashboard/server/cluster_cache.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "operator/api/dialect.h"
#include "operator/kube/api_path.h"

namespace taas::dashboard {
namespace {

Resource ResourceOf(JobKind kind) {
  return kind == JobKind::kTfJob ? Resource::kTfJobs : Resource::kTrainingJobs;
}

// An event may come before its job or pod, which another watch tells of, but not by so much: what
// is about nothing at two looks in a row is let go.
constexpr std::chrono::seconds kStrayLook{30};

std::string IndexOf(const std::string& ns, const std::string& name) { return ns + "/" + name; }

}  // namespace

// One namespace, or all: a reflector replaces the whole content of its store, so each has its own.
struct ClusterCache::Scope {
  template <typename T>
  struct Kept {
    explicit Kept(typename Store<T>::IndexOf index_of = nullptr) : store(std::move(index_of)) {}
    Store<T> store;
    std::unique_ptr<Reflector<T>> reflector;
  };

  std::map<JobKind, Kept<WatchedJob>> jobs;
  Kept<WatchedPod> pods{
      [](const WatchedPod& pod) { return pod.job.empty() ? "" : IndexOf(pod.meta.ns, pod.job); }};
  // By the kind that they are about.
  std::map<std::string, Kept<WatchedEvent>> events;
};

ClusterCache::ClusterCache(KubeTransport& transport, Executor& executor, Random& random,
                           Options options, Calls calls)
    : transport_(transport),
      executor_(executor),
      random_(random),
      options_(std::move(options)),
      calls_(std::move(calls)) {
  for (const std::string& ns : options_.namespaces) scopes_[ns] = MakeScope(ns);
  if (scopes_.empty()) scopes_[""] = MakeScope("");
  if (!options_.nodes) return;
  nodes_.set_on_change([this](const auto&, const auto&) { calls_.gpus(); });
  node_reflector_ = std::make_unique<Reflector<WatchedNode>>(
      transport_, executor_, random_, nodes_,
      [this](std::string_view json) { return ReadNode(json, options_.gpu_resource); },
      ReflectorOptions{.path = CollectionPath(Resource::kNodes, "")});
}

ClusterCache::~ClusterCache() {
  if (next_look_ != 0) executor_.Cancel(next_look_);
}

void ClusterCache::MakeJobs(JobKind kind, const std::string& ns, Scope* scope) {
  auto& jobs = scope->jobs[kind];
  jobs.store.set_on_change([this](const JobPtr& before, const JobPtr& after) {
    const bool another = after == nullptr || (before != nullptr &&
                                              before->meta.uid != after->meta.uid);
    if (before != nullptr && another) calls_.job_gone(before);
    if (another) DropStraysLater();
    calls_.job((after != nullptr ? after : before)->key());
  });
  jobs.reflector = std::make_unique<Reflector<WatchedJob>>(
      transport_, executor_, random_, jobs.store,
      [kind](std::string_view json) { return ReadJob(kind, json); },
      ReflectorOptions{.path = CollectionPath(ResourceOf(kind), ns), .may_be_absent = true});
}

// Of pods only warnings, which are few: the others say what the pod's own status says.
void ClusterCache::MakeEvents(const std::string& ns, Scope* scope) {
  std::map<std::string, std::string> selectors = {{"Pod", "involvedObject.kind=Pod,type=Warning"}};
  for (const JobKind kind : options_.kinds) {
    const std::string name(DialectOf(kind).kind_name);
    selectors[name] = "involvedObject.kind=" + name;
  }
  for (const auto& [kind, selector] : selectors) {
    auto& events = scope->events
                       .try_emplace(kind, [](const WatchedEvent& event) {
                         return IndexOf(event.meta.ns, event.about_name);
                       }).first->second;
    events.store.set_on_change([this](const EventPtr& before, const EventPtr& after) {
      OnEvent(after != nullptr ? after : before);
    });
    events.reflector = std::make_unique<Reflector<WatchedEvent>>(
        transport_, executor_, random_, events.store, ReadEvent,
        ReflectorOptions{.path = CollectionPath(Resource::kEvents, ns),
                         .field_selector = selector});
  }
}

std::unique_ptr<ClusterCache::Scope> ClusterCache::MakeScope(const std::string& ns) {
  auto scope = std::make_unique<Scope>();
  for (const JobKind kind : options_.kinds) MakeJobs(kind, ns, scope.get());
  MakeEvents(ns, scope.get());
  scope->pods.store.set_on_change(
      [this](const PodPtr& before, const PodPtr& after) { OnPod(before, after); });
  // All pods, not only those of jobs: GPUs are held by others too.
  scope->pods.reflector = std::make_unique<Reflector<WatchedPod>>(
      transport_, executor_, random_, scope->pods.store,
      [this](std::string_view json) { return ReadPod(json, options_.gpu_resource); },
      ReflectorOptions{.path = CollectionPath(Resource::kPods, ns)});
  return scope;
}

void ClusterCache::Start() {
  for (const auto& [ns, scope] : scopes_) {
    for (auto& [kind, jobs] : scope->jobs) jobs.reflector->Start();
    for (auto& [kind, events] : scope->events) events.reflector->Start();
    scope->pods.reflector->Start();
  }
  if (node_reflector_ != nullptr) node_reflector_->Start();
}

bool ClusterCache::synced() const {
  for (const auto& [ns, scope] : scopes_) {
    for (const auto& [kind, jobs] : scope->jobs) {
      if (!jobs.reflector->synced()) return false;
    }
    for (const auto& [kind, events] : scope->events) {
      if (!events.reflector->synced()) return false;
    }
    if (!scope->pods.reflector->synced()) return false;
  }
  return node_reflector_ == nullptr || node_reflector_->synced();
}

ClusterCache::Scope* ClusterCache::ScopeOf(const std::string& ns) const {
  auto found = scopes_.find(ns);
  if (found == scopes_.end()) found = scopes_.find("");
  return found == scopes_.end() ? nullptr : found->second.get();
}

ClusterCache::JobPtr ClusterCache::FindJob(const std::string& key) const {
  const size_t slash = key.find('/');
  const size_t second = slash == std::string::npos ? slash : key.find('/', slash + 1);
  if (second == std::string::npos) return nullptr;
  const Scope* scope = ScopeOf(key.substr(slash + 1, second - slash - 1));
  if (scope == nullptr) return nullptr;
  for (const auto& [kind, jobs] : scope->jobs) {
    if (key.compare(0, slash, DialectOf(kind).plural) == 0) {
      return jobs.store.Find(key.substr(slash + 1));
    }
  }
  return nullptr;
}

std::vector<ClusterCache::JobPtr> ClusterCache::Jobs() const {
  std::vector<JobPtr> out;
  for (const auto& [ns, scope] : scopes_) {
    for (const auto& [kind, jobs] : scope->jobs) {
      for (const auto& [key, job] : jobs.store.objects()) out.push_back(job);
    }
  }
  return out;
}

std::vector<ClusterCache::PodPtr> ClusterCache::PodsOf(const WatchedJob& job) const {
  const Scope* scope = ScopeOf(job.meta.ns);
  if (scope == nullptr) return {};
  auto pods = scope->pods.store.Indexed(IndexOf(job.meta.ns, job.meta.name));
  std::erase_if(pods, [&job](const PodPtr& pod) {
    return !pod->role.has_value() || (!pod->owner_uid.empty() && pod->owner_uid != job.meta.uid);
  });
  return pods;
}

ClusterCache::PodPtr ClusterCache::FindPod(const std::string& ns, const std::string& name) const {
  const Scope* scope = ScopeOf(ns);
  return scope == nullptr ? nullptr : scope->pods.store.Find(ns, name);
}

std::vector<ClusterCache::PodPtr> ClusterCache::GpuPods() const {
  std::vector<PodPtr> out;
  for (const auto& [ns, scope] : scopes_) {
    for (const auto& [key, pod] : scope->pods.store.objects()) {
      if (pod->gpus > 0 && !HasStopped(*pod)) out.push_back(pod);
    }
  }
  return out;
}

std::vector<ClusterCache::NodePtr> ClusterCache::Nodes() const {
  std::vector<NodePtr> out;
  for (const auto& [key, node] : nodes_.objects()) out.push_back(node);
  return out;
}

std::vector<ClusterCache::EventPtr> ClusterCache::EventsOf(const WatchedJob& job,
                                                           const std::vector<PodPtr>& pods) const {
  const Scope* scope = ScopeOf(job.meta.ns);
  if (scope == nullptr) return {};
  std::vector<EventPtr> out;
  const auto add = [&](const std::string& kind, const std::string& name, const std::string& uid) {
    const auto events = scope->events.find(kind);
    if (events == scope->events.end()) return;
    for (EventPtr& event : events->second.store.Indexed(IndexOf(job.meta.ns, name))) {
      if (event->about_uid.empty() || event->about_uid == uid) out.push_back(std::move(event));
    }
  };
  add(std::string(DialectOf(job.kind).kind_name), job.meta.name, job.meta.uid);
  for (const PodPtr& pod : pods) add("Pod", pod->meta.name, pod->meta.uid);
  std::stable_sort(out.begin(), out.end(), [](const EventPtr& a, const EventPtr& b) {
    if (a->at != b->at) return a->at < b->at;
    // Times have whole seconds; what was written later has a larger number.
    const std::string& of_a = a->meta.resource_version;
    const std::string& of_b = b->meta.resource_version;
    return of_a.size() != of_b.size() ? of_a.size() < of_b.size() : of_a < of_b;
  });
  return out;
}

size_t ClusterCache::EventCount() const {
  size_t count = 0;
  for (const auto& [ns, scope] : scopes_) {
    for (const auto& [kind, events] : scope->events) count += events.store.size();
  }
  return count;
}

void ClusterCache::TouchByName(const std::string& ns, const std::string& job) {
  for (const JobKind kind : options_.kinds) {
    const std::string key = JobKey(kind, ns, job);
    if (FindJob(key) != nullptr) calls_.job(key);
  }
}

void ClusterCache::OnPod(const PodPtr& before, const PodPtr& after) {
  if (after == nullptr) DropStraysLater();
  for (const PodPtr& pod : {before, after}) {
    if (pod == nullptr) continue;
    if (!pod->job.empty()) TouchByName(pod->meta.ns, pod->job);
    if (pod->gpus > 0) calls_.gpus();
  }
}

void ClusterCache::OnEvent(const EventPtr& event) {
  DropStraysLater();
  if (event->about_kind != "Pod") return TouchByName(event->meta.ns, event->about_name);
  const PodPtr pod = FindPod(event->meta.ns, event->about_name);
  if (pod != nullptr && !pod->job.empty()) TouchByName(pod->meta.ns, pod->job);
}

bool ClusterCache::IsStray(const Scope& scope, const WatchedEvent& event) const {
  const auto has_other_uid = [&event](const auto& about) {
    return !event.about_uid.empty() && event.about_uid != about->meta.uid;
  };
  const std::string key = IndexOf(event.meta.ns, event.about_name);
  const PodPtr pod = event.about_kind == "Pod" ? scope.pods.store.Find(key) : nullptr;
  if (pod != nullptr) return has_other_uid(pod);
  for (const auto& [kind, jobs] : scope.jobs) {
    if (DialectOf(kind).kind_name != event.about_kind) continue;
    const JobPtr job = jobs.store.Find(key);
    if (job != nullptr) return has_other_uid(job);
  }
  return true;
}

void ClusterCache::DropStraysLater() {
  if (next_look_ != 0) return;
  next_look_ = executor_.PostAfter(kStrayLook, [this] {
    next_look_ = 0;
    DropStrays();
  });
}

void ClusterCache::DropStrays() {
  // While it lists anew nobody knows what is there.
  if (!synced()) return DropStraysLater();
  const std::set<std::string> before = std::exchange(strays_, {});
  for (const auto& [ns, scope] : scopes_) {
    for (auto& [kind, events] : scope->events) {
      std::vector<EventPtr> dropped;
      for (const auto& [key, event] : events.store.objects()) {
        if (!IsStray(*scope, *event)) continue;
        if (before.contains(key)) {
          dropped.push_back(event);
        } else {
          strays_.insert(key);
        }
      }
      for (const EventPtr& event : dropped) {
        events.store.ObserveGone(event->meta.ns, event->meta.name, event->meta.uid);
      }
    }
  }
  if (!strays_.empty()) DropStraysLater();
}

}  // namespace taas::dashboard
