// The learning rate of each step: constant, or decaying exponentially as TensorFlow's
// exponential_decay does.
//
// The rate of the update that makes step s is start · rate^((s - 1) / steps), since TensorFlow asks
// for the global step before the update adds to it. With `staircase` the exponent is rounded down.
//
// Ownership: value type. Threads: any. Errors: none.
//
//   const LearningRate rate{.start = 0.1, .decay_steps = 1000, .decay_rate = 0.96};
//   rate.At(1);     // 0.1
//   rate.At(1001);  // 0.096

#ifndef TRAINER_OPTIMIZER_LEARNING_RATE_H_
#define TRAINER_OPTIMIZER_LEARNING_RATE_H_

#include <cmath>
#include <cstdint>

namespace taas {

struct LearningRate {
  double start = 0;
  int64_t decay_steps = 0;  // 0: constant.
  double decay_rate = 1;
  bool staircase = false;

  double At(int64_t step) const {
    if (decay_steps == 0) return start;
    const double periods = static_cast<double>(step - 1) / static_cast<double>(decay_steps);
    return start * std::pow(decay_rate, staircase ? std::floor(periods) : periods);
  }
};

}  // namespace taas

#endif  // TRAINER_OPTIMIZER_LEARNING_RATE_H_
