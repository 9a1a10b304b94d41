// What the cells of an LSTM take, of all examples of one step, and their gradient: between the
// products with the recurrent weights.

#ifndef TRAINER_KERNELS_CUDA_LSTM_H_
#define TRAINER_KERNELS_CUDA_LSTM_H_

#include <cstdint>

namespace taas::cuda {

// Gates of [examples, 4, units]: in, forget, fresh, out. All else is of [examples, units].
struct LstmCellParams {
  float* gates;         // Products alone, then their functions.
  const float* biases;  // Of [4, units].
  const float* before;  // The cells of the step before; null: zeroes.
  float* cells;
  float* y;
  int64_t count;  // Of cells.
  int64_t units;
};

struct LstmCellGradParams {
  const float* gates;
  const float* before;  // As above.
  const float* cells;
  const float* dy;
  // From the step after, of which the last step has none: null, and dcells is not read.
  const float* dy_later;
  float* dcells;  // From the step after, then for the step before.
  float* dgates;  // Of the gates before their functions.
  int64_t count;
  int64_t units;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_LSTM_H_
