// Says once, to many threads, that it is time to stop.
//
// Ownership: outlives its users. Threads: any. Errors: none.
//
//   if (stop.WaitFor(200ms)) return;  // Stopped meanwhile.

#ifndef TRAINER_RETRY_STOP_FLAG_H_
#define TRAINER_RETRY_STOP_FLAG_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace taas {

// How often who waits for something else looks at the flag, which cannot wake it.
constexpr std::chrono::milliseconds kLookForStop{100};

class StopFlag {
 public:
  void Stop() {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  bool stopped() const {
    std::lock_guard lock(mutex_);
    return stopped_;
  }
  // True if stopped, at once or within `patience`.
  bool WaitFor(std::chrono::milliseconds patience) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [this] { return stopped_; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool stopped_ = false;
};

}  // namespace taas

#endif  // TRAINER_RETRY_STOP_FLAG_H_
