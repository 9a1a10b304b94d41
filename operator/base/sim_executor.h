// An Executor in virtual time: the same code as in production, run by a test, deterministically.
//
// Time jumps to the next due task; tasks that are due at the same time run in an order drawn from
// the seed, so that a test with many seeds sees many interleavings and any one seed repeats
// exactly.
//
// Ownership: the test's. Threads: one. Errors: none.
//
//   SimExecutor executor({.seed = 42});
//   executor.RunUntil(executor.clock().Now() + 60s);

#ifndef OPERATOR_BASE_SIM_EXECUTOR_H_
#define OPERATOR_BASE_SIM_EXECUTOR_H_

#include <cstdint>
#include <map>
#include <unordered_map>

#include "operator/base/executor.h"
#include "operator/base/fake_clock.h"
#include "operator/base/random.h"

namespace taas {

class SimExecutor : public Executor {
 public:
  struct Options {
    uint64_t seed = 1;
    // A simulation that runs more tasks than this is taken to be a loop that never ends.
    uint64_t task_limit = 10'000'000;
    // Keep the order of posting among tasks of one instant instead of drawing it.
    bool in_order = false;
  };
  explicit SimExecutor(Options options);

  void Post(Task task) override;
  TimerId PostAfter(Clock::Duration delay, Task task) override;
  bool Cancel(TimerId id) override;
  const Clock& clock() const override { return clock_; }

  // Runs the next task, moving the clock to it. False if none waits.
  bool RunOne();
  // Runs all that is due up to `when`, then moves the clock there.
  void RunUntil(Clock::Time when);
  // Runs until `done` holds or `when` is reached; says whether it held.
  bool RunUntil(Clock::Time when, const std::function<bool()>& done);
  size_t waiting() const { return tasks_.size(); }

 private:
  struct Key {
    Clock::Time due;
    uint64_t tie;
    TimerId id;
    auto operator<=>(const Key&) const = default;
  };

  const Options options_;
  FakeClock clock_;
  SeededRandom random_;
  std::map<Key, Task> tasks_;
  std::unordered_map<TimerId, Key> keys_;
  TimerId last_id_ = 0;
  uint64_t tasks_run_ = 0;
};

}  // namespace taas

#endif  // OPERATOR_BASE_SIM_EXECUTOR_H_
