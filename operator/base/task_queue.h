// What an Executor has to run, in the order of time: what every one on a real clock does alike.
//
// Tasks run in the order in which they are due, those of one moment in the order of posting: what
// has no delay is due when it is posted, and keeps no timer waiting that was due before.
//
// Ownership: keeps tasks until they are taken or dropped. Threads: none of its own; the caller
// locks, and destroys what it was given after its lock, since what a task captured may post.
// Errors: none.
//
//   TaskQueue queue;
//   const TaskQueue::Added added = queue.Add(now, 5s, task);
//   while (std::optional<Executor::Task> task = queue.TakeDue(now)) …

#ifndef OPERATOR_BASE_TASK_QUEUE_H_
#define OPERATOR_BASE_TASK_QUEUE_H_

#include <map>
#include <optional>
#include <unordered_map>

#include "operator/base/executor.h"

namespace taas {

class TaskQueue {
 public:
  using Task = Executor::Task;
  using TimerId = Executor::TimerId;

  struct Added {
    TimerId id;
    bool first;  // Before all others, so that whoever waits for those waits too long.
  };
  Added Add(Clock::Time now, Clock::Duration delay, Task task);
  // The task, if it was still waiting.
  std::optional<Task> Remove(TimerId id);
  // The next that is due.
  std::optional<Task> TakeDue(Clock::Time now);

  bool empty() const { return tasks_.empty(); }
  // When the next one is due. Of a queue that is not empty.
  Clock::Time next_due() const { return tasks_.begin()->first.due; }

 private:
  // Ordered by due time, then by order of posting.
  struct Key {
    Clock::Time due;
    TimerId id;
    auto operator<=>(const Key&) const = default;
  };

  std::map<Key, Task> tasks_;
  std::unordered_map<TimerId, Clock::Time> due_;
  TimerId last_id_ = 0;
};

}  // namespace taas

#endif  // OPERATOR_BASE_TASK_QUEUE_H_
