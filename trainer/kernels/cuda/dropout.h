// Dropout: elements that are drawn become zero, the rest is scaled.

#ifndef TRAINER_KERNELS_CUDA_DROPOUT_H_
#define TRAINER_KERNELS_CUDA_DROPOUT_H_

#include <cstdint>

#include "trainer/graph/step_block.h"

namespace taas::cuda {

// y = x / (1 - rate) where the number in [0, 1) that is drawn for the layer, the step and the
// element is at least rate, else 0; y may be x.
struct DropoutParams {
  const StepBlock* block;  // Has the step.
  const float* x;
  float* y;
  int64_t count;
  uint64_t layer;  // Of the session's seed and the layer's name.
  float rate;
  bool by_fours;  // places.h.
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_DROPOUT_H_
