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
}

void ThreadExecutor::Post(Task task) { PostAfter(Clock::Duration::zero(), std::move(task)); }

Executor::TimerId ThreadExecutor::PostAfter(Clock::Duration delay, Task task) {
  TimerId id;
  bool first = false;
  {
    std::lock_guard lock(mutex_);
    id = ++last_id_;
    // Tasks without a delay keep their order and go before any timer that becomes due later.
    const Clock::Time due =
        delay <= Clock::Duration::zero() ? Clock::Time::min() : clock_.Now() + delay;
    const auto added = tasks_.emplace(Key{due, id}, std::move(task)).first;
    first = added == tasks_.begin();
    due_.emplace(id, due);
  }
  // A thread that sleeps until an earlier task need not wake for this one.
  if (first) wake_.notify_one();
  return id;
}

bool ThreadExecutor::Cancel(TimerId id) {
  Task dropped;  // Declared before the lock, so destroyed after it: its captures may post.
  std::lock_guard lock(mutex_);
  const auto found = due_.find(id);
  if (found == due_.end()) return false;
  const auto task = tasks_.find(Key{found->second, id});
  dropped = std::move(task->second);
  tasks_.erase(task);
  due_.erase(found);
  return true;
}

void ThreadExecutor::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (tasks_.empty()) {
      wake_.wait(lock);
      continue;
    }
    const auto first = tasks_.begin();
    const Clock::Time now = clock_.Now();
    if (first->first.due > now) {
      wake_.wait_for(lock, first->first.due - now);
      continue;
    }
    due_.erase(first->first.id);
    Task task = std::move(first->second);
    tasks_.erase(first);
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

}  // namespace taas
