// The learning rate of each step: constant, or decaying as one of TensorFlow's schedules, with a
// warm-up in front.
//
// TensorFlow asks for the global step before the update adds to it, so the update that makes step s
// has the rate of t = s - 1:
//
//   exponential  start · rate^(t / steps); with `staircase` the exponent is rounded down
//                (exponential_decay)
//   step         start up to t = boundaries[0], then rates[0] up to boundaries[1], and so on
//                (piecewise_constant, whose values are start and then `rates`)
//   cosine       start · ((1 - alpha) · (1 + cos(π · min(t, steps) / steps)) / 2 + alpha)
//                (cosine_decay; Loshchilov and Hutter 2017)
//   warm-up      start · t / warmup_steps while t < warmup_steps, then the schedule of
//                t - warmup_steps (Keras' CosineDecay with a warm-up from 0)
//
// All of it times `scale`: with k gradients averaged in one update, a batch is k times as large,
// and so may the rate be (Goyal et al. 2017, linear scaling).
//
// Ownership: value type. Threads: any. Errors: none; the fields are checked by Optimizer::Make.
//
//   const LearningRate rate{.start = 0.1, .decay_steps = 1000, .decay_rate = 0.96};
//   rate.At(1);     // 0.1
//   rate.At(1001);  // 0.096

#ifndef TRAINER_OPTIMIZER_LEARNING_RATE_H_
#define TRAINER_OPTIMIZER_LEARNING_RATE_H_

#include <cstdint>
#include <vector>

namespace taas {

enum class DecayType { kExponential, kStep, kCosine };

struct LearningRate {
  double start = 0;
  int64_t decay_steps = 0;  // Of exponential and cosine; 0: constant.
  double decay_rate = 1;    // Of exponential, as the next.
  bool staircase = false;
  DecayType decay = DecayType::kExponential;
  std::vector<int64_t> boundaries{};  // Of step, growing; none: constant.
  std::vector<double> rates{};        // Of step, one for each boundary.
  double alpha = 0;                   // Of cosine: the share of the rate that stays.
  int64_t warmup_steps = 0;           // 0: none.
  double scale = 1;

  // `step` counts from 1.
  double At(int64_t step) const;
};

}  // namespace taas

#endif  // TRAINER_OPTIMIZER_LEARNING_RATE_H_
