// What a watch of the store has seen, for tests: short texts that compare well.
//
// "+a@3" added, "~a@4" modified, "-a@5" deleted, "end@2", "bookmark@6", "gone@7".
//
// Ownership: the test's; outlives the watch. Threads: any. Errors: WaitFor gives what there is
// after 10 s.
//
//   EventLog log;
//   auto watch = store->Watch({.resource = "pods"}, log.callback());
//   EXPECT_EQ(log.WaitFor(1), std::vector<std::string>{"+a@1"});

#ifndef LOCALKUBE_API_EVENT_LOG_H_
#define LOCALKUBE_API_EVENT_LOG_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "localkube/api/store.h"

namespace taas::localkube {

class EventLog {
 public:
  Store::OnEvent callback() {
    return [this](const StoreEvent& event) { Add(event); };
  }

  std::vector<std::string> WaitFor(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [&] { return seen_.size() >= count; });
    return seen_;
  }
  size_t count() {
    std::lock_guard lock(mutex_);
    return seen_.size();
  }

  // The next event is held until Unblock.
  void Block() { blocked_ = true; }
  void WaitUntilBlocked() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [&] { return !seen_.empty(); });
  }
  void Unblock() {
    std::lock_guard lock(mutex_);
    blocked_ = false;
    changed_.notify_all();
  }

 private:
  static constexpr std::chrono::seconds kPatience{10};

  void Add(const StoreEvent& event) {
    std::string text;
    switch (event.type) {
      case StoreEventType::kAdded: text = "+" + event.key.name; break;
      case StoreEventType::kModified: text = "~" + event.key.name; break;
      case StoreEventType::kDeleted: text = "-" + event.key.name; break;
      case StoreEventType::kInitialEnd: text = "end"; break;
      case StoreEventType::kBookmark: text = "bookmark"; break;
      case StoreEventType::kGone: text = "gone"; break;
    }
    std::unique_lock lock(mutex_);
    seen_.push_back(text + "@" + std::to_string(event.revision));
    changed_.notify_all();
    changed_.wait(lock, [&] { return !blocked_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> seen_;
  bool blocked_ = false;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_EVENT_LOG_H_
