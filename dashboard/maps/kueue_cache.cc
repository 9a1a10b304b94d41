#include "dashboard/maps/kueue_cache.h"

#include <type_traits>
#include <utility>

#include "operator/api/json_field.h"
#include "operator/kube/api_path.h"
#include "operator/kube/reflector.h"
#include "operator/kube/store.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

constexpr std::string_view kGroup = "kueue.x-k8s.io";

// Of an APIGroup; empty: it is none.
std::string PreferredVersion(const std::string& body) {
  const auto group = ParseJsonObject(body);
  if (!group.ok()) return "";
  const auto preferred = group->find("preferredVersion");
  if (preferred == group->end() || !preferred->is_object()) return "";
  std::string version = TextOf(*preferred, "groupVersion");
  // It becomes part of a path.
  return version.rfind(std::string(kGroup) + "/", 0) == 0 ? version : "";
}

std::string PathOf(const std::string& group_version, const std::string& ns,
                   const std::string& resource) {
  const std::string version = group_version.substr(group_version.find('/') + 1);
  std::string path = "/apis/" + std::string(kGroup) + "/" + PercentEncode(version);
  if (!ns.empty()) path += "/namespaces/" + PercentEncode(ns);
  return path + "/" + resource;
}

template <typename T>
void AppendAll(const Store<T>& store, std::vector<std::shared_ptr<const T>>* out) {
  for (const auto& [key, object] : store.objects()) out->push_back(object);
}

}  // namespace

struct KueueCache::Scope {
  template <typename T>
  struct Kept {
    Store<T> store;
    std::unique_ptr<Reflector<T>> reflector;  // Null: of no interest here.
    bool synced() const { return reflector == nullptr || reflector->synced(); }
  };

  Kept<KueueQueue> cluster_queues;
  Kept<KueueQueue> local_queues;
  Kept<KueueWorkload> workloads;
};

KueueCache::KueueCache(KubeTransport& transport, Executor& executor, Random& random,
                       Options options, std::function<void()> on_change)
    : transport_(transport),
      executor_(executor),
      random_(random),
      options_(std::move(options)),
      on_change_(std::move(on_change)) {}

KueueCache::~KueueCache() {
  if (timer_ != 0) executor_.Cancel(timer_);
}

void KueueCache::Look() {
  timer_ = executor_.PostAfter(kLookEvery, [this] { Look(); });
  transport_.Do({.path = "/apis/" + std::string(kGroup)},
                [this, alive = std::weak_ptr<bool>(alive_)](absl::StatusOr<HttpReply> reply) {
                  if (alive.lock() != nullptr) OnAnswer(reply);
                });
}

void KueueCache::OnAnswer(const absl::StatusOr<HttpReply>& reply) {
  // Nobody knows; what was known goes on.
  if (!reply.ok()) return;
  if (reply->code == 404) return Follow("");
  if (reply->code != 200) return;
  if (std::string version = PreferredVersion(reply->body); !version.empty()) Follow(version);
}

void KueueCache::Follow(const std::string& group_version) {
  if (group_version == group_version_) return;
  group_version_ = group_version;
  scopes_.clear();
  if (!group_version_.empty()) {
    for (const std::string& ns : options_.namespaces) scopes_.push_back(MakeScope(ns));
    if (scopes_.empty()) scopes_.push_back(MakeScope(""));
  }
  on_change_();
}

std::unique_ptr<KueueCache::Scope> KueueCache::MakeScope(const std::string& ns) const {
  auto scope = std::make_unique<Scope>();
  const auto follow = [&](auto& kept, const std::string& resource, const std::string& in,
                          auto decode) {
    kept.store.set_on_change([this](const auto&, const auto&) { on_change_(); });
    using Kept = std::decay_t<decltype(kept)>;
    kept.reflector = std::make_unique<typename decltype(Kept::reflector)::element_type>(
        transport_, executor_, random_, kept.store, decode,
        ReflectorOptions{.path = PathOf(group_version_, in, resource), .may_be_absent = true});
    kept.reflector->set_on_synced([this] { on_change_(); });
    kept.reflector->Start();
  };
  if (ns.empty()) follow(scope->cluster_queues, "clusterqueues", "", ReadClusterQueue);
  follow(scope->local_queues, "localqueues", ns, ReadLocalQueue);
  follow(scope->workloads, "workloads", ns, [this](std::string_view json) {
    return ReadWorkload(json, options_.gpu_resource);
  });
  return scope;
}

bool KueueCache::synced() const {
  for (const auto& scope : scopes_) {
    const bool all = scope->cluster_queues.synced() && scope->local_queues.synced() &&
                     scope->workloads.synced();
    if (!all) return false;
  }
  return true;
}

std::optional<KueueObjects> KueueCache::Objects() const {
  if (group_version_.empty() || !synced()) return std::nullopt;
  KueueObjects out;
  for (const auto& scope : scopes_) {
    AppendAll(scope->cluster_queues.store, &out.cluster_queues);
    AppendAll(scope->local_queues.store, &out.local_queues);
    AppendAll(scope->workloads.store, &out.workloads);
  }
  return out;
}

std::set<std::string> KueueCache::Namespaces() const {
  std::set<std::string> out;
  for (const auto& scope : scopes_) {
    for (const auto& [key, queue] : scope->local_queues.store.objects()) out.insert(queue->meta.ns);
    for (const auto& [key, one] : scope->workloads.store.objects()) out.insert(one->meta.ns);
  }
  return out;
}

}  // namespace taas::dashboard
