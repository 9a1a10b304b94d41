#include "operator/base/thread_executor.h"

#include <pthread.h>

#include <utility>

#include "operator/base/check.h"

namespace taas {

ThreadExecutor::ThreadExecutor(const Clock& clock, const std::string& name) : clock_(clock) {
  thread_ = std::thread([this, short_name = name.substr(0, 15)] {
    pthread_setname_np(pthread_self(), short_name.c_str());
    Run();
  });
}

ThreadExecutor::~ThreadExecutor() { Stop(); }

void ThreadExecutor::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (!thread_.joinable()) return;
  CHECK(thread_.get_id() != std::this_thread::get_id()) << "an executor cannot join itself";
  thread_.join();
  TaskQueue dropped;  // Destroyed after the lock: what a task holds may cancel others.
  std::lock_guard lock(mutex_);
  std::swap(dropped, tasks_);
}

void ThreadExecutor::Post(Task task) { PostAfter(Clock::Duration::zero(), std::move(task)); }

Executor::TimerId ThreadExecutor::PostAfter(Clock::Duration delay, Task task) {
  TaskQueue::Added added;
  {
    std::lock_guard lock(mutex_);
    added = tasks_.Add(clock_.Now(), delay, std::move(task));
  }
  // A thread that sleeps until an earlier task need not wake for this one.
  if (added.first) wake_.notify_one();
  return added.id;
}

bool ThreadExecutor::Cancel(TimerId id) {
  std::optional<Task> dropped;  // Destroyed after the lock.
  std::lock_guard lock(mutex_);
  dropped = tasks_.Remove(id);
  return dropped.has_value();
}

void ThreadExecutor::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (tasks_.empty()) {
      wake_.wait(lock);
      continue;
    }
    const Clock::Time now = clock_.Now();
    std::optional<Task> task = tasks_.TakeDue(now);
    if (!task.has_value()) {
      wake_.wait_for(lock, tasks_.next_due() - now);
      continue;
    }
    lock.unlock();
    (*task)();
    task.reset();
    lock.lock();
  }
}

}  // namespace taas
