// The operator's view of one kind of object: what the reflector saw last, and our own writes'
// replies.
//
// Read-your-writes: `Observe` takes the reply of a write at once, so that the next plan does not
// repeat it; the watch event of the same write is then recognised as seen. Objects are immutable.
//
// Ownership: shares objects with readers (`std::shared_ptr<const T>`). Threads: one, the
// executor's. Errors: none.
//
//   Store<Pod> pods([](const Pod& pod) { return pod.meta.ns + "/" + pod.job; });
//   for (const auto& pod : pods.Indexed("ns/mnist")) …

#ifndef OPERATOR_KUBE_STORE_H_
#define OPERATOR_KUBE_STORE_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/kube/resource_version.h"

namespace taas {

// T has a member `meta` of type ObjectMeta.
template <typename T>
class Store {
 public:
  using Object = std::shared_ptr<const T>;
  using Objects = std::map<std::string, Object, std::less<>>;  // By key.
  using IndexOf = std::function<std::string(const T&)>;
  // `before` is null for a new object, `after` for one that is gone.
  using OnChange = std::function<void(const Object& before, const Object& after)>;

  explicit Store(IndexOf index_of = nullptr) : index_of_(std::move(index_of)) {}
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Called after each change, by reflector or Observe.
  void set_on_change(OnChange on_change) { on_change_ = std::move(on_change); }

  static std::string Key(std::string_view ns, std::string_view name) {
    return std::string(ns) + "/" + std::string(name);
  }
  // Null: there is none.
  Object Find(std::string_view ns, std::string_view name) const { return Find(Key(ns, name)); }
  Object Find(const std::string& key) const {
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second;
  }
  // Those whose index is `index`, by key.
  std::vector<Object> Indexed(const std::string& index) const {
    std::vector<Object> out;
    const auto keys = index_.find(index);
    if (keys == index_.end()) return out;
    for (const std::string_view key : keys->second) out.push_back(objects_.find(key)->second);
    return out;
  }
  const Objects& objects() const { return objects_; }
  size_t size() const { return objects_.size(); }

  // The reply to our own create or update. Ignored where the watch has already shown this state or
  // a later one: an object of ours that was deleted meanwhile does not come back.
  void Observe(T object) {
    if (NotLater(object.meta.resource_version, seen_version_)) return;
    Put(std::move(object));
  }
  // The reply to our own delete says that the object is gone at once (no grace period, no
  // finalizer).
  void ObserveGone(std::string_view ns, std::string_view name, std::string_view uid) {
    const std::string key = Key(ns, name);
    const Object before = Find(key);
    if (before != nullptr && before->meta.uid == uid) Erase(key);
  }

  // The rest is for the reflector.

  // The state of the world is exactly `objects`, as of `version`. Own writes after it are kept.
  void Replace(std::vector<T> objects, const std::string& version, bool keep_later) {
    std::set<std::string> gone;
    for (const auto& [key, object] : objects_) {
      if (keep_later && IsLater(object->meta.resource_version, version)) continue;
      gone.insert(key);
    }
    seen_version_ = version;
    for (T& object : objects) {
      gone.erase(Key(object.meta.ns, object.meta.name));
      Put(std::move(object), keep_later);
    }
    for (const std::string& key : gone) Erase(key);
  }
  void Apply(T object) {
    Seen(object.meta.resource_version);
    Put(std::move(object));
  }
  // `version` is that of the deletion. An object that was made later under the same name stays.
  void Remove(std::string_view ns, std::string_view name, const std::string& version) {
    Seen(version);
    const std::string key = Key(ns, name);
    const Object before = Find(key);
    if (before == nullptr || IsLater(before->meta.resource_version, version)) return;
    Erase(key);
  }
  void Seen(const std::string& version) {
    if (!NotLater(version, seen_version_)) seen_version_ = version;
  }

 private:
  void Put(T object, bool keep_later = true) {
    const std::string key = Key(object.meta.ns, object.meta.name);
    const Object before = Find(key);
    if (before != nullptr && before->meta.uid == object.meta.uid &&
        before->meta.resource_version == object.meta.resource_version) {
      return;
    }
    if (before != nullptr && keep_later &&
        IsLater(before->meta.resource_version, object.meta.resource_version)) {
      return;
    }
    const Object after = std::make_shared<const T>(std::move(object));
    if (before != nullptr) Unindex(key, *before);
    const auto at = objects_.insert_or_assign(key, after).first;
    if (index_of_) index_[index_of_(*after)].insert(at->first);
    if (on_change_) on_change_(before, after);
  }
  void Erase(const std::string& key) {
    const auto found = objects_.find(key);
    const Object before = found->second;
    Unindex(key, *before);
    objects_.erase(found);
    if (on_change_) on_change_(before, nullptr);
  }
  void Unindex(const std::string& key, const T& object) {
    if (!index_of_) return;
    const auto found = index_.find(index_of_(object));
    if (found == index_.end()) return;
    found->second.erase(key);
    if (found->second.empty()) index_.erase(found);
  }

  const IndexOf index_of_;
  OnChange on_change_;
  Objects objects_;
  std::map<std::string, std::set<std::string_view>> index_;  // Keys of objects_, of which it is.
  std::string seen_version_;  // The latest that the reflector saw; empty before the first list.
};

}  // namespace taas

#endif  // OPERATOR_KUBE_STORE_H_
