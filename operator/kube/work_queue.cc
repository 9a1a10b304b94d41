#include "operator/kube/work_queue.h"

#include <utility>

#include "operator/base/check.h"

namespace taas {
namespace {

std::string NamespaceOf(const std::string& key) {
  const size_t slash = key.rfind('/');
  return slash == std::string::npos ? std::string() : key.substr(0, slash);
}

}  // namespace

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
  if (!dirty_.emplace(key, Lane::kFast).second) return;
  if (processing_.contains(key) || resting_.contains(key)) return;  // Its end puts it back.
  MakeReady(key);
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

WorkQueue::Lane WorkQueue::Leave(const std::string& key) {
  const auto found = processing_.find(key);
  CHECK(found != processing_.end()) << "Done(" << key << ") without work on it";
  const Lane lane = found->second;
  --In(lane).at_work;
  processing_.erase(found);
  return lane;
}

void WorkQueue::Done(const std::string& key, Clock::Duration rest) {
  Leave(key);
  if (rest > Clock::Duration::zero()) {
    Rest(key, rest);
  } else if (dirty_.contains(key)) {
    MakeReady(key);
  }
  PumpSoon();
}

void WorkQueue::DoneGoOn(const std::string& key) {
  const Lane lane = Leave(key);
  dirty_[key] = lane;
  In(lane).line.PushFirst(key);
  PumpSoon();
}

bool WorkQueue::GoSlow(const std::string& key) {
  const auto found = processing_.find(key);
  CHECK(found != processing_.end()) << "GoSlow(" << key << ") without work on it";
  if (found->second == Lane::kSlow) return true;
  if (slow_.at_work >= options_.in_flight_limit || !slow_.line.empty()) {
    dirty_[key] = Lane::kSlow;
    return false;
  }
  found->second = Lane::kSlow;
  --fast_.at_work;
  ++slow_.at_work;
  PumpSoon();
  return true;
}

bool WorkQueue::OthersAreSlow(const std::string& key) const {
  const auto found = processing_.find(key);
  const bool self = found != processing_.end() && found->second == Lane::kSlow;
  return slow_.at_work + slow_.line.size() > (self ? 1u : 0u);
}

bool WorkQueue::MayStart(Lane lane) const {
  const Waiting& waiting = lane == Lane::kFast ? fast_ : slow_;
  return !waiting.line.empty() && waiting.at_work < options_.in_flight_limit;
}

void WorkQueue::MakeReady(const std::string& key) { In(dirty_.at(key)).line.Push(key); }

void WorkQueue::Line::Push(const std::string& key) {
  const std::string ns = NamespaceOf(key);
  std::deque<std::string>& keys = keys_[ns];
  if (keys.empty()) turns_.push_back(ns);
  keys.push_back(key);
  ++size_;
}

void WorkQueue::Line::PushFirst(const std::string& key) {
  const std::string ns = NamespaceOf(key);
  std::erase(turns_, ns);
  turns_.push_front(ns);
  keys_[ns].push_front(key);
  ++size_;
}

std::string WorkQueue::Line::Pop() {
  const std::string ns = std::move(turns_.front());
  turns_.pop_front();
  const auto found = keys_.find(ns);
  std::string key = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) {
    keys_.erase(found);
  } else {
    turns_.push_back(ns);
  }
  --size_;
  return key;
}

void WorkQueue::Rest(const std::string& key, Clock::Duration rest) {
  resting_[key] = executor_.PostAfter(rest, [this, key, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    resting_.erase(key);
    if (dirty_.contains(key)) MakeReady(key);
    PumpSoon();
  });
}

uint32_t WorkQueue::failures(const std::string& key) const {
  const auto found = failures_.find(key);
  return found == failures_.end() ? 0 : found->second;
}

// Work starts from a task of its own, so that no caller of Add is interrupted by it.
void WorkQueue::PumpSoon() {
  if (pump_posted_ || !(MayStart(Lane::kFast) || MayStart(Lane::kSlow))) return;
  pump_posted_ = true;
  executor_.Post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) Pump();
  });
}

void WorkQueue::Pump() {
  pump_posted_ = false;
  const Lane lane = MayStart(Lane::kFast) ? Lane::kFast : Lane::kSlow;
  if (!MayStart(lane)) return;
  Waiting& waiting = In(lane);
  const std::string key = waiting.line.Pop();
  dirty_.erase(key);
  processing_.emplace(key, lane);
  ++waiting.at_work;
  // One key per task: events and replies get their turn in between.
  PumpSoon();
  process_(key);
}

}  // namespace taas
