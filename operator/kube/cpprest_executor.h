// An Executor on the thread that does cpprestsdk's I/O.
//
// What arrives is dealt with where it arrives and what is sent leaves from there: an operator whose
// decisions take microseconds spends more on waking a second thread, for each reply and each event,
// than on deciding. I/O has its turn after some tasks, however many wait.
//
// Ownership: the clock must outlive it. The destructor stops after the running task and drops what
// is still waiting. Threads: as Executor; all that tasks do keeps all I/O of the process waiting.
// Errors: none.
//
//   RealClock clock;
//   CpprestExecutor executor(clock);
//   executor.Post([] { ... });

#ifndef OPERATOR_KUBE_CPPREST_EXECUTOR_H_
#define OPERATOR_KUBE_CPPREST_EXECUTOR_H_

#include <memory>

#include "operator/base/executor.h"

namespace taas {

class CpprestExecutor : public Executor {
 public:
  explicit CpprestExecutor(const Clock& clock);
  ~CpprestExecutor() override;

  void Post(Task task) override;
  TimerId PostAfter(Clock::Duration delay, Task task) override;
  bool Cancel(TimerId id) override;
  const Clock& clock() const override { return clock_; }

  // Returns after the task that runs now; none runs after it. Idempotent; not to be called from a
  // task.
  void Stop();

 private:
  class State;

  const Clock& clock_;
  const std::shared_ptr<State> state_;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_CPPREST_EXECUTOR_H_
