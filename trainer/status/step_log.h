// The step line on standard output, and on a terminal a bar instead.
//
//   step 10, loss = 2.31 (21000.0 examples/sec; 0.005 sec/batch)
//
// is the classic line, which scripts read; with JSON lines there is an object on a line of its own
// beside each. The step is that of the whole job, and so is the rate.
//
// Ownership: borrows the clock and writes to a file descriptor. Threads: one at a time. Errors:
// none; what cannot be written is lost.
//
//   StepLog log(clock, {.every = 100, .batch_size = 100, .max_steps = 2000});
//   log.OnStep(step, loss);

#ifndef TRAINER_STATUS_STEP_LOG_H_
#define TRAINER_STATUS_STEP_LOG_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "operator/base/clock.h"
#include "trainer/status/status_board.h"

namespace taas {

class StepLog {
 public:
  struct Options {
    int64_t every = 100;
    int64_t batch_size = 1;
    int64_t max_steps = 0;
    bool json = false;
    bool terminal = false;  // Standard output is one: draw a bar.
    int fd = 1;
    // Told of every step, also of those without a line.
    std::function<void(int64_t step, double loss, double examples_per_second)> also =
        [](int64_t, double, double) {};
    // Whether `also` looks at what `step` leaves in the model: then no other is begun before.
    std::function<bool(int64_t step)> looks_at = [](int64_t) { return false; };
  };
  StepLog(const Clock& clock, Options options) : clock_(clock), options_(std::move(options)) {}

  // Training starts or goes on from `step`: the rate is measured from here.
  void Start(int64_t step);
  // The same, and a step is of so many examples from here on.
  void Start(int64_t step, int64_t batch_size);
  // Writes a line when a multiple of `every` was reached since the last one. Returns the rate of
  // the whole job, smoothed over about a second.
  double OnStep(int64_t step, double loss);
  bool LooksAt(int64_t step) const { return options_.looks_at(step); }
  void OnEvaluation(const Evaluation& evaluation);

 private:
  // Of a large model the first line may be minutes away.
  void TellFirst(int64_t step);
  void WriteLine(int64_t step, double loss);
  void Write(const std::string& text);
  void DrawBar(int64_t step, double loss);

  const Clock& clock_;
  Options options_;
  Clock::Time line_time_{};
  int64_t line_step_ = 0;
  Clock::Time rate_time_{};
  int64_t rate_step_ = 0;
  double rate_ = 0;
  bool bar_drawn_ = false;
  bool first_told_ = false;
};

}  // namespace taas

#endif  // TRAINER_STATUS_STEP_LOG_H_
