// An Executor on one thread of its own.
//
// Ownership: owns its thread; the clock must outlive it. The destructor stops after the running
// task and drops what is still waiting. Threads: as Executor. Errors: none.
//
//   RealClock clock;
//   ThreadExecutor executor(clock, "reconcile");
//   executor.Post([] { ... });

#ifndef OPERATOR_BASE_THREAD_EXECUTOR_H_
#define OPERATOR_BASE_THREAD_EXECUTOR_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "operator/base/executor.h"
#include "operator/base/task_queue.h"

namespace taas {

class ThreadExecutor : public Executor {
 public:
  // `name` is shown by ps and gdb; at most 15 characters of it.
  ThreadExecutor(const Clock& clock, const std::string& name);
  ~ThreadExecutor() override;

  void Post(Task task) override;
  TimerId PostAfter(Clock::Duration delay, Task task) override;
  bool Cancel(TimerId id) override;
  const Clock& clock() const override { return clock_; }

  // Ends the thread after the task that runs now, and drops what waits. Idempotent. Not to be
  // called from a task.
  void Stop();

 private:
  void Run();

  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  TaskQueue tasks_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace taas

#endif  // OPERATOR_BASE_THREAD_EXECUTOR_H_
