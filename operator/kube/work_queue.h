// Keys that wait to be looked at: each at most once in the queue and at most once at work.
//
// A key that is added while it is at work runs once more when it is done, however often it was
// added: what is processed is a state, never an event.
//
// Ownership: the executor must outlive it; destroying it drops what waits. Threads: the executor's
// only. Errors: none; the owner says by Retry or Forget how a run went.
//
//   WorkQueue queue(executor, {}, [&](const std::string& key) { Start(key); });
//   queue.Add("ns/mnist");
//   … queue.Retry(key);  queue.Done(key);                        // After a failure.
//   … queue.Forget(key); queue.AddAfter(key, 5s); queue.Done(key);  // After a success.

#ifndef OPERATOR_KUBE_WORK_QUEUE_H_
#define OPERATOR_KUBE_WORK_QUEUE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "operator/base/executor.h"
#include "operator/kube/retry_delay.h"

namespace taas {

class WorkQueue {
 public:
  struct Options {
    RetryDelay::Options retry;
    // Keys at work at one time. A run spends its time waiting for the API server, so this bounds
    // the requests in flight, not the CPU.
    size_t in_flight_limit = 16;
  };
  // Starts work on a key; Done(key) may be called within it or at any later time.
  using Process = std::function<void(const std::string& key)>;

  WorkQueue(Executor& executor, Options options, Process process);
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  void Add(const std::string& key);
  // The earlier time wins when a key waits already.
  void AddAfter(const std::string& key, Clock::Duration delay);
  // Counts a failure of `key` and adds it after the delay that follows from the count.
  void Retry(const std::string& key);
  // Sets the failures of `key` back to none: after a success, or when the object changed.
  void Forget(const std::string& key);
  // For `rest` the key is not looked at again, though it may be added: runs whose cost grows with
  // what they look at are kept from following each event.
  void Done(const std::string& key, Clock::Duration rest = {});

  size_t depth() const { return ready_.size(); }
  size_t in_flight() const { return processing_.size(); }
  uint32_t failures(const std::string& key) const;

 private:
  struct Timer {
    Clock::Time due;
    Executor::TimerId id;
  };

  void Rest(const std::string& key, Clock::Duration rest);
  void Pump();
  void PumpSoon();

  Executor& executor_;
  const Options options_;
  const RetryDelay retry_;
  const Process process_;
  std::unordered_set<std::string> dirty_;
  std::unordered_set<std::string> processing_;
  std::deque<std::string> ready_;
  std::unordered_map<std::string, uint32_t> failures_;
  std::unordered_map<std::string, Timer> timers_;
  std::unordered_map<std::string, Executor::TimerId> resting_;
  bool pump_posted_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas

#endif  // OPERATOR_KUBE_WORK_QUEUE_H_
