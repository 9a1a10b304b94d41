#include "localkube/api/garbage_collector.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "localkube/api/kube_status.h"
#include "localkube/api/selectors.h"
#include "operator/base/log.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

constexpr char kNamespaces[] = "namespaces";
constexpr char kEvents[] = "events";

bool HasFinalizer(const json& object, std::string_view name) {
  const json list = object["metadata"].value("finalizers", json::array());
  return std::find(list.begin(), list.end(), json(std::string(name))) != list.end();
}

bool IsGone(const absl::Status& status) {
  const std::string reason = status.ok() ? "" : StatusReason(status);
  // Conflict: the name is another object's by now.
  return reason == "NotFound" || reason == "Conflict";
}

// A write by `work`; what a stored object that cannot be read throws is a failure like others.
absl::Status Attempt(const std::function<absl::Status()>& work) {
  try {
    return work();
  } catch (const json::exception& error) {
    return absl::InternalError(std::string("the stored object cannot be read: ") + error.what());
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  }
}

}  // namespace

GarbageCollector::GarbageCollector(Store& store, Rest& rest, Executor& executor,
                                   const Clock& clock)
    : store_(store), rest_(rest), executor_(executor), clock_(clock) {}

void GarbageCollector::Start() {
  executor_.Post(Guarded([this] {
    Follow();
    ExpireEvents();
  }));
}

void GarbageCollector::Stop() {
  *alive_ = false;
  watch_.reset();
}

Executor::Task GarbageCollector::Guarded(std::function<void()> task) {
  return [alive = alive_, task = std::move(task)] {
    if (!*alive) return;
    try {
      task();
    } catch (const std::exception& error) {
      Log(LogLevel::kError, "garbage collection met an object that cannot be read; it goes on",
          {{"cause", error.what()}});
    }
  };
}

void GarbageCollector::Follow() {
  objects_.clear();
  uids_.clear();
  dependants_.clear();
  by_namespace_.clear();
  events_ = 0;
  complete_ = false;
  // Parsing happens on the executor, so that the store's thread goes on at once.
  auto watch = store_.Watch({}, [this](const StoreEvent& event) {
    executor_.Post(Guarded([this, event] { OnEvent(event); }));
  });
  if (watch.ok()) watch_ = *std::move(watch);
}

void GarbageCollector::OnEvent(const StoreEvent& event) {
  if (event.type == StoreEventType::kGone) {
    Follow();
    return;
  }
  if (event.type == StoreEventType::kInitialEnd) {
    complete_ = true;
    std::vector<std::string> all;
    for (const auto& [uid, object] : objects_) all.push_back(uid);
    for (const std::string& uid : all) Look(uid);
    return;
  }
  if (event.text == nullptr) return;
  const json object = json::parse(*event.text);
  const std::string uid = UidOf(object);
  if (event.type == StoreEventType::kDeleted) {
    Forget(uid);
    return;
  }
  Object known{.key = event.key,
               .owners = {},
               .terminating = IsTerminating(object),
               .foreground = HasFinalizer(object, kForegroundFinalizer),
               .orphan = HasFinalizer(object, kOrphanFinalizer)};
  for (const json& owner : object["metadata"].value("ownerReferences", json::array())) {
    known.owners.push_back(
        {owner.value("uid", ""), owner.value("blockOwnerDeletion", json()) == json(true)});
  }
  Learn(uid, std::move(known));
  if (!complete_) return;
  Look(uid);
  const bool more = event.type == StoreEventType::kAdded && event.key.resource == kEvents;
  if (more && events_ > kEventsMax + kEventsSlack && !events_stay_) DropOldestEvents();
}

void GarbageCollector::Learn(const std::string& uid, Object object) {
  std::vector<Owner> before;
  if (const auto known = objects_.find(uid); known != objects_.end()) {
    before = std::move(known->second.owners);
    if (known->second.key.resource == kEvents) --events_;
  }
  for (const Owner& owner : before) dependants_[owner.uid].erase(uid);
  for (const Owner& owner : object.owners) {
    dependants_[owner.uid].insert(uid);
    std::erase(before, owner);
  }
  if (!object.key.ns.empty()) by_namespace_[object.key.ns].insert(uid);
  uids_[object.key] = uid;
  if (object.key.resource == kEvents) ++events_;
  objects_[uid] = std::move(object);
  // One that is an owner no more, or is held no more, may have waited for this one.
  for (const Owner& owner : before) {
    if (const auto list = dependants_.find(owner.uid);
        list != dependants_.end() && list->second.empty()) {
      dependants_.erase(list);
    }
    Look(owner.uid);
  }
}

void GarbageCollector::Forget(const std::string& uid) {
  const auto found = objects_.find(uid);
  if (found == objects_.end()) return;
  const Object object = std::move(found->second);
  objects_.erase(found);
  if (object.key.resource == kEvents) --events_;
  if (const auto name = uids_.find(object.key); name != uids_.end() && name->second == uid) {
    uids_.erase(name);
  }
  by_namespace_[object.key.ns].erase(uid);
  for (const Owner& owner : object.owners) {
    const auto list = dependants_.find(owner.uid);
    if (list == dependants_.end()) continue;
    list->second.erase(uid);
    if (list->second.empty()) dependants_.erase(list);
    Look(owner.uid);  // It may have waited for this one.
  }
  LookAtDependants(uid);
  if (!object.key.ns.empty()) LookAtNamespace(object.key.ns);
}

// Level-triggered: does what the object's present state asks for, again and again if need be.
void GarbageCollector::Look(const std::string& uid) {
  const auto found = objects_.find(uid);
  if (found == objects_.end() || !complete_) return;
  const Object object = found->second;
  if (object.key.resource == kNamespaces) {
    LookAtNamespace(object.key.name);
    if (!object.terminating) MakeServiceAccount(object.key.name);
    return;
  }
  if (object.terminating && object.foreground) EndForeground(uid, object);
  if (object.terminating && object.orphan) EndOrphan(uid, object);
  if (object.owners.empty() || object.terminating) return;
  const bool owned =
      std::any_of(object.owners.begin(), object.owners.end(),
                  [this](const Owner& owner) { return objects_.count(owner.uid) > 0; });
  if (!owned) Delete(object.key, uid);
}

void GarbageCollector::LookAtDependants(const std::string& owner) {
  const auto list = dependants_.find(owner);
  if (list == dependants_.end()) return;
  const std::set<std::string> uids = list->second;
  for (const std::string& uid : uids) Look(uid);
}

bool GarbageCollector::HasOwnerThatStays(const Object& object, const std::string& owner) const {
  return std::any_of(object.owners.begin(), object.owners.end(), [&](const Owner& other) {
    if (other.uid == owner) return false;
    const auto found = objects_.find(other.uid);
    return found != objects_.end() && !(found->second.terminating && found->second.foreground);
  });
}

void GarbageCollector::EndForeground(const std::string& uid, const Object& object) {
  bool held = false;
  const auto list = dependants_.find(uid);
  const std::set<std::string> uids =
      list == dependants_.end() ? std::set<std::string>() : list->second;
  for (const std::string& dependant : uids) {
    const auto found = objects_.find(dependant);
    if (found == objects_.end()) continue;
    const Object known = found->second;
    held = held || std::any_of(known.owners.begin(), known.owners.end(), [&](const Owner& owner) {
             return owner.uid == uid && owner.blocked;
           });
    if (known.terminating) continue;
    if (!HasOwnerThatStays(known, uid)) {
      Delete(known.key, dependant);
    } else if (const absl::Status status = DropOwner(known.key, uid);
               !status.ok() && !IsGone(status)) {
      RetryLater(uid, status);
    }
  }
  // Those that do not hold it are on their way.
  if (!held) DropFinalizer(object.key, kForegroundFinalizer);
}

absl::Status GarbageCollector::DropOwner(const StoreKey& key, const std::string& owner) {
  return Attempt([&] {
    return rest_.Edit({FindResource(key.resource), key.ns, key.name, ""}, [&](json* dependant) {
      auto& owners = (*dependant)["metadata"]["ownerReferences"];
      if (!owners.is_array()) return;
      std::erase_if(owners.get_ref<json::array_t&>(),
                    [&](const json& one) { return one.value("uid", "") == owner; });
      if (owners.empty()) (*dependant)["metadata"].erase("ownerReferences");
    });
  });
}

void GarbageCollector::EndOrphan(const std::string& uid, const Object& object) {
  const auto list = dependants_.find(uid);
  const std::set<std::string> uids =
      list == dependants_.end() ? std::set<std::string>() : list->second;
  for (const std::string& dependant : uids) {
    const auto found = objects_.find(dependant);
    if (found == objects_.end()) continue;
    const absl::Status status = DropOwner(found->second.key, uid);
    if (!status.ok() && !IsGone(status)) {
      RetryLater(uid, status);
      return;
    }
  }
  DropFinalizer(object.key, kOrphanFinalizer);
}

void GarbageCollector::LookAtNamespace(const std::string& ns) {
  const auto uid = uids_.find({kNamespaces, "", ns});
  if (uid == uids_.end() || !complete_) return;
  const auto found = objects_.find(uid->second);
  if (found == objects_.end() || !found->second.terminating) return;
  const std::set<std::string> content = by_namespace_[ns];
  if (content.empty()) {
    const absl::Status status = rest_.Remove({FindResource(kNamespaces), "", ns, ""}, uid->second);
    if (!status.ok()) RetryLater(uid->second, status);
    return;
  }
  for (const std::string& inside : content) {
    const auto object = objects_.find(inside);
    if (object != objects_.end() && !object->second.terminating) {
      Delete(StoreKey(object->second.key), inside);
    }
  }
}

void GarbageCollector::Delete(const StoreKey& key, const std::string& uid) {
  const absl::Status status = Attempt([&] {
    return rest_.Delete({FindResource(key.resource), key.ns, key.name, ""}, {.uid = uid}).status();
  });
  if (!status.ok() && !IsGone(status)) RetryLater(uid, status);
}

void GarbageCollector::DropFinalizer(const StoreKey& key, std::string_view finalizer) {
  const absl::Status status = Attempt([&] {
    return rest_.Edit(
        {FindResource(key.resource), key.ns, key.name, ""}, [finalizer](json* object) {
          auto& list = (*object)["metadata"]["finalizers"];
          if (!list.is_array()) return;
          std::erase(list.get_ref<json::array_t&>(), json(std::string(finalizer)));
          if (list.empty()) (*object)["metadata"].erase("finalizers");
        });
  });
  if (status.ok() || IsGone(status)) return;
  if (const auto uid = uids_.find(key); uid != uids_.end()) RetryLater(uid->second, status);
}

void GarbageCollector::MakeServiceAccount(const std::string& ns) {
  if (uids_.count({"serviceaccounts", ns, "default"}) > 0) return;
  const json account = {{"metadata", {{"name", "default"}}}};
  const auto made = rest_.Create(*FindResource("serviceaccounts"), ns, account.dump(), {});
  // Terminating or there already: both are well.
  if (!made.ok() && StatusReason(made.status()) == "InternalError") {
    Log(LogLevel::kWarning, "no default service account",
        {{"namespace", ns}, {"cause", std::string(made.status().message())}});
  }
}

void GarbageCollector::RetryLater(const std::string& uid, const absl::Status& status) {
  Log(LogLevel::kWarning, "garbage collection will try again",
      {{"uid", uid}, {"cause", std::string(status.message())}});
  executor_.PostAfter(kRetryDelay, Guarded([this, uid] { Look(uid); }));
}

void GarbageCollector::ExpireEvents() {
  executor_.PostAfter(kExpiryInterval, Guarded([this] { ExpireEvents(); }));
  events_stay_ = false;
  DropOldestEvents();
  const Clock::WallTime oldest = clock_.WallNow() - kEventLife;
  const auto events = store_.List({.resource = kEvents});
  if (!events.ok()) return;
  for (const StoreEntry& entry : events->entries) {
    const json event = json::parse(*entry.text, nullptr, /*allow_exceptions=*/false);
    std::string last = FieldText(event, "lastTimestamp");
    if (last.empty()) last = MetaText(event, "creationTimestamp");
    Clock::WallTime time;
    const bool old = !ParseRfc3339(last, &time) || time < oldest;
    if (old && !RemoveEvent(entry)) return;
  }
}

void GarbageCollector::DropOldestEvents() {
  auto events = store_.List({.resource = kEvents});
  if (!events.ok() || events->entries.size() <= kEventsMax) return;
  std::vector<StoreEntry>& entries = events->entries;
  std::sort(entries.begin(), entries.end(),
            [](const StoreEntry& a, const StoreEntry& b) { return a.revision < b.revision; });
  entries.resize(entries.size() - kEventsMax);
  for (const StoreEntry& entry : entries) {
    if (!RemoveEvent(entry)) return;
  }
}

bool GarbageCollector::RemoveEvent(const StoreEntry& entry) {
  std::string uid;
  const absl::Status status = Attempt([&] {
    uid = UidOf(json::parse(*entry.text));
    return rest_.Remove({FindResource(kEvents), entry.key.ns, entry.key.name, ""}, uid);
  });
  // What the watch says of it later is known by then: they are not counted as there meanwhile.
  if (status.ok()) Forget(uid);
  // One that cannot be read stays, alone.
  if (status.ok() || uid.empty()) return true;
  Log(LogLevel::kWarning, "events of before stay; they are dropped when the store takes writes",
      {{"cause", std::string(status.message())}});
  events_stay_ = true;
  return false;
}

}  // namespace taas::localkube
