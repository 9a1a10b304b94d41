#include "operator/base/task_queue.h"

#include <algorithm>
#include <utility>

namespace taas {

TaskQueue::Added TaskQueue::Add(Clock::Time now, Clock::Duration delay, Task task) {
  const TimerId id = ++last_id_;
  const Clock::Time due = now + std::max(delay, Clock::Duration::zero());
  const auto added = tasks_.emplace(Key{due, id}, std::move(task)).first;
  due_.emplace(id, due);
  return {.id = id, .first = added == tasks_.begin()};
}

std::optional<TaskQueue::Task> TaskQueue::Remove(TimerId id) {
  const auto found = due_.find(id);
  if (found == due_.end()) return std::nullopt;
  const auto task = tasks_.find(Key{found->second, id});
  Task removed = std::move(task->second);
  tasks_.erase(task);
  due_.erase(found);
  return removed;
}

std::optional<TaskQueue::Task> TaskQueue::TakeDue(Clock::Time now) {
  if (tasks_.empty() || next_due() > now) return std::nullopt;
  return Remove(tasks_.begin()->first.id);
}

}  // namespace taas
