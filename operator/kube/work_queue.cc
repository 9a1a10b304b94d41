#include "operator/kube/work_queue.h"

#include <utility>

#include "operator/base/check.h"

namespace taas {

WorkQueue::WorkQueue(Executor& executor, Options options, Process process)
    : executor_(executor),
      options_(options),
      retry_(options.retry),
      process_(std::move(process)) {
  CHECK(options_.in_flight_limit > 0) << "a queue that starts nothing";
}

WorkQueue::~WorkQueue() {
  for (const auto& [key, timer] : timers_) executor_.Cancel(timer.id);
  for (const auto& [key, timer] : resting_) executor_.Cancel(timer);
}

void WorkQueue::Add(const std::string& key) {
  if (!dirty_.insert(key).second) return;
  if (processing_.contains(key) || resting_.contains(key)) return;  // Its end puts it back.
  ready_.push_back(key);
  PumpSoon();
}

void WorkQueue::AddAfter(const std::string& key, Clock::Duration delay) {
  if (delay <= Clock::Duration::zero()) {
    Add(key);
    return;
  }
  const Clock::Time due = executor_.clock().Now() + delay;
  if (const auto found = timers_.find(key); found != timers_.end()) {
    if (found->second.due <= due) return;
    executor_.Cancel(found->second.id);
  }
  const Executor::TimerId id =
      executor_.PostAfter(delay, [this, key, alive = std::weak_ptr<bool>(alive_)] {
        if (alive.expired()) return;
        timers_.erase(key);
        Add(key);
      });
  timers_[key] = {due, id};
}

void WorkQueue::Retry(const std::string& key) {
  uint32_t& failures = failures_[key];
  if (failures < UINT32_MAX) ++failures;
  AddAfter(key, retry_.After(failures));
}

void WorkQueue::Forget(const std::string& key) { failures_.erase(key); }

void WorkQueue::Done(const std::string& key, Clock::Duration rest) {
  CHECK(processing_.erase(key) == 1) << "Done(" << key << ") without work on it";
  if (rest > Clock::Duration::zero()) {
    Rest(key, rest);
  } else if (dirty_.contains(key)) {
    ready_.push_back(key);
  }
  PumpSoon();
}

void WorkQueue::Rest(const std::string& key, Clock::Duration rest) {
  resting_[key] = executor_.PostAfter(rest, [this, key, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    resting_.erase(key);
    if (dirty_.contains(key)) ready_.push_back(key);
    PumpSoon();
  });
}

uint32_t WorkQueue::failures(const std::string& key) const {
  const auto found = failures_.find(key);
  return found == failures_.end() ? 0 : found->second;
}

// Work starts from a task of its own, so that no caller of Add is interrupted by it.
void WorkQueue::PumpSoon() {
  if (pump_posted_ || ready_.empty() || processing_.size() >= options_.in_flight_limit) return;
  pump_posted_ = true;
  executor_.Post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) Pump();
  });
}

void WorkQueue::Pump() {
  pump_posted_ = false;
  if (ready_.empty() || processing_.size() >= options_.in_flight_limit) return;
  const std::string key = std::move(ready_.front());
  ready_.pop_front();
  dirty_.erase(key);
  processing_.insert(key);
  // One key per task: events and replies get their turn in between.
  PumpSoon();
  process_(key);
}

}  // namespace taas
