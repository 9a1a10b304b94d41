// Runs closures one after the other, now or later.
//
// The operator's reflector, queue, planner and writer run on one executor, so their state needs no
// lock. In production that is the thread of its I/O (kube/cpprest_executor.h), in programs that
// wait for results a thread of its own (thread_executor.h), in simulations virtual time
// (sim_executor.h).
//
// Ownership: outlives everything that posts to it. Threads: Post, PostAfter and Cancel are safe
// from any thread; closures run one at a time and never inside Post. Errors: none; a closure
// handles its own.
//
//   executor.PostAfter(5s, [this] { Poll(); });

#ifndef OPERATOR_BASE_EXECUTOR_H_
#define OPERATOR_BASE_EXECUTOR_H_

#include <cstdint>
#include <functional>

#include "operator/base/clock.h"

namespace taas {

class Executor {
 public:
  using Task = std::function<void()>;
  using TimerId = uint64_t;  // Never 0.

  virtual ~Executor() = default;
  virtual void Post(Task task) = 0;
  virtual TimerId PostAfter(Clock::Duration delay, Task task) = 0;
  // True if the task had not started: it will not run any more.
  virtual bool Cancel(TimerId id) = 0;
  // The clock that delays are measured on.
  virtual const Clock& clock() const = 0;
};

}  // namespace taas

#endif  // OPERATOR_BASE_EXECUTOR_H_
