#include "operator/controller/cluster_view.h"

#include <algorithm>

#include "operator/api/training_job_codec.h"
#include "operator/base/log.h"
#include "operator/kube/api_path.h"
#include "operator/plan/replicas.h"

namespace taas {

// One namespace, or all: a reflector replaces the whole content of its store, so each has its own.
struct ClusterView::Scope {
  Scope() : pods([](const Pod& pod) { return pod.meta.ns + "/" + pod.job; }) {}

  Store<Job> jobs;
  Store<Pod> pods;
  Store<OwnedObject> services;
  std::unique_ptr<Reflector<Job>> job_reflector;
  std::unique_ptr<Reflector<Pod>> pod_reflector;
  std::unique_ptr<Reflector<OwnedObject>> service_reflector;
};

ClusterView::ClusterView(KubeTransport& transport, Executor& executor, Random& random,
                         std::vector<std::string> namespaces, OnChange on_change)
    : transport_(transport),
      executor_(executor),
      random_(random),
      on_change_(std::move(on_change)) {
  if (namespaces.empty()) namespaces.push_back("");
  for (const std::string& ns : namespaces) scopes_[ns] = MakeScope(ns);
}

ClusterView::~ClusterView() = default;

std::unique_ptr<ClusterView::Scope> ClusterView::MakeScope(const std::string& ns) {
  auto scope = std::make_unique<Scope>();
  scope->jobs.set_on_change(
      [this](const auto& before, const auto& after) { OnJob(before, after); });
  scope->pods.set_on_change(
      [this](const auto& before, const auto& after) { OnPod(before, after); });
  scope->services.set_on_change([this](const auto& before, const auto& after) {
    on_change_(KeyOf((after != nullptr ? after : before)->meta));
  });
  scope->job_reflector = std::make_unique<Reflector<Job>>(
      transport_, executor_, random_, scope->jobs, DecodeTrainingJob,
      ReflectorOptions{.path = CollectionPath(Resource::kTrainingJobs, ns)});
  scope->job_reflector->set_on_undecodable([this](std::string_view json, const absl::Status& why) {
    const auto object = DecodeOwnedObject(json);
    if (object.ok() && on_unreadable_) on_unreadable_(object->meta, std::string(why.message()));
  });
  // Everything that is ours carries this label.
  const std::string ours(kJobLabel);
  scope->pod_reflector = std::make_unique<Reflector<Pod>>(
      transport_, executor_, random_, scope->pods, DecodePod,
      ReflectorOptions{.path = CollectionPath(Resource::kPods, ns), .label_selector = ours});
  scope->service_reflector = std::make_unique<Reflector<OwnedObject>>(
      transport_, executor_, random_, scope->services, DecodeOwnedObject,
      ReflectorOptions{.path = CollectionPath(Resource::kServices, ns), .label_selector = ours});
  scope->job_reflector->set_on_synced([this] { OnSynced(); });
  scope->pod_reflector->set_on_synced([this] { OnSynced(); });
  scope->service_reflector->set_on_synced([this] { OnSynced(); });
  return scope;
}

void ClusterView::Start() {
  for (const auto& [ns, scope] : scopes_) {
    scope->job_reflector->Start();
    scope->pod_reflector->Start();
    scope->service_reflector->Start();
  }
}

void ClusterView::OnSynced() {
  if (synced_) return;
  for (const auto& [ns, scope] : scopes_) {
    if (!scope->job_reflector->synced() || !scope->pod_reflector->synced() ||
        !scope->service_reflector->synced()) {
      return;
    }
  }
  synced_ = true;
  for (const std::string& key : JobKeys()) on_change_(key);
}

ClusterView::Scope* ClusterView::ScopeOf(const std::string& ns) const {
  auto found = scopes_.find(ns);
  if (found == scopes_.end()) found = scopes_.find("");
  return found == scopes_.end() ? nullptr : found->second.get();
}

namespace {

std::string NamespaceOf(const std::string& key) { return key.substr(0, key.find('/')); }

}  // namespace

std::shared_ptr<const Job> ClusterView::FindJob(const std::string& key) const {
  const Scope* scope = ScopeOf(NamespaceOf(key));
  return scope == nullptr ? nullptr : scope->jobs.Find(key);
}

std::vector<std::string> ClusterView::JobKeys() const {
  std::vector<std::string> keys;
  for (const auto& [ns, scope] : scopes_) {
    for (const auto& [key, job] : scope->jobs.objects()) keys.push_back(key);
  }
  return keys;
}

std::vector<std::shared_ptr<const Pod>> ClusterView::PodsOf(const std::string& key) const {
  const Scope* scope = ScopeOf(NamespaceOf(key));
  if (scope == nullptr) return {};
  return scope->pods.Indexed(key);
}

std::shared_ptr<const OwnedObject> ClusterView::FindService(const std::string& key) const {
  const Scope* scope = ScopeOf(NamespaceOf(key));
  return scope == nullptr ? nullptr : scope->services.Find(key);
}

std::vector<Pod> ClusterView::GoneOf(const std::string& uid) const {
  const auto found = gone_.find(uid);
  return found == gone_.end() ? std::vector<Pod>() : found->second;
}

void ClusterView::ForgetCounted(const std::string& uid, const Ledger& ledger) {
  const auto found = gone_.find(uid);
  if (found == gone_.end()) return;
  std::erase_if(found->second, [&](const Pod& pod) {
    if (ledger.outcome.has_value() || !pod.role.has_value()) return true;
    const LedgerReplica* entry = FindReplica(ledger, *pod.role, pod.index);
    return entry != nullptr && (entry->completed || entry->pod_number > pod.pod_number);
  });
  if (found->second.empty()) gone_.erase(found);
}

void ClusterView::OnJob(const std::shared_ptr<const Job>& before,
                        const std::shared_ptr<const Job>& after) {
  if (before != nullptr && (after == nullptr || after->meta.uid != before->meta.uid)) {
    ForgetJob(before->meta.uid);
  }
  on_change_(KeyOf((after != nullptr ? after : before)->meta));
}

void ClusterView::OnPod(const std::shared_ptr<const Pod>& before,
                        const std::shared_ptr<const Pod>& after) {
  const std::shared_ptr<const Pod>& pod = after != nullptr ? after : before;
  if (before != nullptr && (after == nullptr || after->meta.uid != before->meta.uid)) {
    const auto job = FindJob(before->meta.ns + "/" + before->job);
    if (job != nullptr && job->meta.uid == before->owner_uid) {
      gone_[before->owner_uid].push_back(*before);
    }
  }
  if (!pod->job.empty()) on_change_(pod->meta.ns + "/" + pod->job);
}

void ClusterView::Observe(Job job) {
  if (Scope* scope = ScopeOf(job.meta.ns)) scope->jobs.Observe(std::move(job));
}

void ClusterView::Observe(Pod pod) {
  if (Scope* scope = ScopeOf(pod.meta.ns)) scope->pods.Observe(std::move(pod));
}

void ClusterView::Observe(OwnedObject service) {
  if (Scope* scope = ScopeOf(service.meta.ns)) scope->services.Observe(std::move(service));
}

void ClusterView::ObserveGone(const Pod& pod) {
  if (Scope* scope = ScopeOf(pod.meta.ns)) {
    scope->pods.ObserveGone(pod.meta.ns, pod.meta.name, pod.meta.uid);
  }
}

}  // namespace taas
