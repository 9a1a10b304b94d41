#include "dashboard/history/history_calls.h"

#include <utility>

namespace taas::dashboard {

HistoryCalls::HistoryCalls(Executor& executor, Options options)
    : executor_(executor), options_(options) {}

HistoryCalls::~HistoryCalls() {
  for (const auto& [id, timer] : running_) executor_.Cancel(timer);
}

bool HistoryCalls::Add(Call call) {
  if (waiting_.size() >= options_.waiting_max) return false;
  waiting_.push_back(std::move(call));
  // A task of its own: a call that ends inside itself would start the next one inside it too.
  executor_.Post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.lock() != nullptr) Next();
  });
  return true;
}

void HistoryCalls::Next() {
  if (running_.size() >= options_.at_once || waiting_.empty()) return;
  const Call call = std::move(waiting_.front());
  waiting_.pop_front();
  const uint64_t id = ++last_id_;
  running_[id] = executor_.PostAfter(options_.timeout, [this, id] { End(id); });
  call([this, id, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.lock() != nullptr) End(id);
  });
}

void HistoryCalls::End(uint64_t id) {
  const auto running = running_.find(id);
  if (running == running_.end()) return;
  executor_.Cancel(running->second);
  running_.erase(running);
  executor_.Post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.lock() != nullptr) Next();
  });
}

}  // namespace taas::dashboard
