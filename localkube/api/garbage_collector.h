// Deletes what nobody owns any more, empties namespaces that are being deleted, ends old events.
//
// Follows all objects in one watch and keeps who owns whom, by uid. Deletion in the background, in
// the foreground (dependants first; those with blockOwnerDeletion hold the owner) and orphaning, as
// in Kubernetes: what has another owner that stays is kept. Each namespace gets its default service
// account.
//
// Ownership: store, rest and executor outlive it; no task of it runs after the destructor returned
// if the executor was stopped before or the destructor runs on it. Threads: one, the executor's.
// Errors: logged and tried again.
//
//   GarbageCollector collector(store, rest, executor);
//   collector.Start();

#ifndef LOCALKUBE_API_GARBAGE_COLLECTOR_H_
#define LOCALKUBE_API_GARBAGE_COLLECTOR_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "localkube/api/rest.h"
#include "localkube/api/store.h"
#include "operator/base/executor.h"

namespace taas::localkube {

class GarbageCollector {
 public:
  // Events tell of the last hour, as in Kubernetes, and of the last that there are: a local cluster
  // must not grow by them, and jobs of a second each make 18,000 in an hour, 20 MB.
  static constexpr std::chrono::hours kEventLife{1};
  static constexpr size_t kEventsMax = 3'000;
  // So many more before the oldest go, which do so together: each time all are listed.
  static constexpr size_t kEventsSlack = 256;
  static constexpr std::chrono::minutes kExpiryInterval{1};
  // Before a failed deletion is tried again.
  static constexpr std::chrono::seconds kRetryDelay{1};

  GarbageCollector(Store& store, Rest& rest, Executor& executor, const Clock& clock);

  void Start();
  // Ends the watch. What is posted already does nothing.
  void Stop();

 private:
  struct Owner {
    std::string uid;
    bool blocked = false;  // Its deletion in the foreground waits for this dependant.

    bool operator==(const Owner&) const = default;
  };
  struct Object {
    StoreKey key;
    std::vector<Owner> owners;
    bool terminating = false;
    bool foreground = false;
    bool orphan = false;
  };

  // `task` for the executor: it does nothing after Stop. What an object in the store that cannot be
  // read throws is logged, and the collector goes on: it must not end the process, now and at each
  // start to come.
  Executor::Task Guarded(std::function<void()> task);
  void Follow();
  void OnEvent(const StoreEvent& event);
  void Forget(const std::string& uid);
  void Learn(const std::string& uid, Object object);
  void Look(const std::string& uid);
  void LookAtDependants(const std::string& owner);
  void LookAtNamespace(const std::string& ns);
  void EndForeground(const std::string& uid, const Object& object);
  // Another owner of `object` than `owner` is there and does not wait for its dependants to go.
  bool HasOwnerThatStays(const Object& object, const std::string& owner) const;
  absl::Status DropOwner(const StoreKey& key, const std::string& owner);
  void EndOrphan(const std::string& uid, const Object& object);
  void Delete(const StoreKey& key, const std::string& uid);
  void DropFinalizer(const StoreKey& key, std::string_view finalizer);
  void MakeServiceAccount(const std::string& ns);
  void RetryLater(const std::string& uid, const absl::Status& status);
  void ExpireEvents();
  // The oldest beyond kEventsMax.
  void DropOldestEvents();
  // False: it cannot be removed, nor others now; that is tried again in kExpiryInterval.
  bool RemoveEvent(const StoreEntry& entry);

  Store& store_;
  Rest& rest_;
  Executor& executor_;
  const Clock& clock_;
  std::map<std::string, Object> objects_;                    // By uid.
  std::map<StoreKey, std::string> uids_;
  std::map<std::string, std::set<std::string>> dependants_;  // Uids, by the owner's uid.
  std::map<std::string, std::set<std::string>> by_namespace_;
  size_t events_ = 0;         // Of objects_.
  bool events_stay_ = false;  // The store has refused to remove one since the last ExpireEvents.
  bool complete_ = false;  // All that existed at the start is known.
  std::unique_ptr<StoreWatch> watch_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_GARBAGE_COLLECTOR_H_
