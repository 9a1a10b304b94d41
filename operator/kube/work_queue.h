// Keys that wait to be looked at: each at most once in the queue and at most once at work.
//
// A key that is added while it is at work runs once more when it is done, however often it was
// added: what is processed is a state, never an event.
//
// Keys of one namespace, which is what stands before the last "/", take turns with those of others:
// nobody waits for all that somebody else has. There are two lanes, each with room of its own, so
// that runs of a request or two do not stand behind those of dozens. A key comes in the fast lane;
// whoever finds its run to be a long one asks for the slow one first.
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

#include "operator/base/executor.h"
#include "operator/kube/retry_delay.h"

namespace taas {

class WorkQueue {
 public:
  enum class Lane { kFast, kSlow };
  struct Options {
    RetryDelay::Options retry;
    // Keys of each lane at work at one time. A run spends its time waiting for the API server, so
    // this bounds the requests in flight, not the CPU.
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
  // Likewise, and it is looked at once more, before those that wait: what was begun is ended before
  // the like of it is begun, so that each waits for its own two runs and not for everybody's first.
  void DoneGoOn(const std::string& key);

  // The key, which is at work, changes to the slow lane, or is there already. False: there is no
  // room; Done must follow, and it waits there for its turn, whatever is added meanwhile.
  bool GoSlow(const std::string& key);
  // Whether other keys than this one wait or are at work in the slow lane.
  bool OthersAreSlow(const std::string& key) const;

  size_t depth() const { return fast_.line.size() + slow_.line.size(); }
  size_t in_flight() const { return processing_.size(); }
  uint32_t failures(const std::string& key) const;

 private:
  struct Timer {
    Clock::Time due;
    Executor::TimerId id;
  };

  // Of those that may start, one of each namespace in turn.
  class Line {
   public:
    void Push(const std::string& key);
    void PushFirst(const std::string& key);
    std::string Pop();
    bool empty() const { return size_ == 0; }
    size_t size() const { return size_; }

   private:
    std::unordered_map<std::string, std::deque<std::string>> keys_;  // By namespace; none is empty.
    std::deque<std::string> turns_;                                  // The next one first.
    size_t size_ = 0;
  };
  struct Waiting {
    Line line;
    size_t at_work = 0;
  };

  Waiting& In(Lane lane) { return lane == Lane::kFast ? fast_ : slow_; }
  bool MayStart(Lane lane) const;
  Lane Leave(const std::string& key);
  void Rest(const std::string& key, Clock::Duration rest);
  void MakeReady(const std::string& key);
  void Pump();
  void PumpSoon();

  Executor& executor_;
  const Options options_;
  const RetryDelay retry_;
  const Process process_;
  std::unordered_map<std::string, Lane> dirty_;
  std::unordered_map<std::string, Lane> processing_;
  Waiting fast_;
  Waiting slow_;
  std::unordered_map<std::string, uint32_t> failures_;
  std::unordered_map<std::string, Timer> timers_;
  std::unordered_map<std::string, Executor::TimerId> resting_;
  bool pump_posted_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas

#endif  // OPERATOR_KUBE_WORK_QUEUE_H_
