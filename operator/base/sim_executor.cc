#include "operator/base/sim_executor.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"

namespace taas {

SimExecutor::SimExecutor(Options options) : options_(options), random_(options.seed) {}

void SimExecutor::Post(Task task) { PostAfter(Clock::Duration::zero(), std::move(task)); }

Executor::TimerId SimExecutor::PostAfter(Clock::Duration delay, Task task) {
  const TimerId id = ++last_id_;
  const Clock::Time due = clock_.Now() + std::max(delay, Clock::Duration::zero());
  const Key key{due, options_.in_order ? 0 : random_.Next(), id};
  tasks_.emplace(key, std::move(task));
  keys_.emplace(id, key);
  return id;
}

bool SimExecutor::Cancel(TimerId id) {
  const auto found = keys_.find(id);
  if (found == keys_.end()) return false;
  tasks_.erase(found->second);
  keys_.erase(found);
  return true;
}

bool SimExecutor::RunOne() {
  if (tasks_.empty()) return false;
  CHECK(++tasks_run_ <= options_.task_limit)
      << "the simulation with seed " << options_.seed << " does not come to rest";
  const auto first = tasks_.begin();
  clock_.AdvanceTo(first->first.due);
  Task task = std::move(first->second);
  keys_.erase(first->first.id);
  tasks_.erase(first);
  task();
  return true;
}

void SimExecutor::RunUntil(Clock::Time when) {
  RunUntil(when, [] { return false; });
}

bool SimExecutor::RunUntil(Clock::Time when, const std::function<bool()>& done) {
  while (!done()) {
    if (tasks_.empty() || tasks_.begin()->first.due > when) {
      clock_.AdvanceTo(when);
      return done();
    }
    RunOne();
  }
  return true;
}

}  // namespace taas
