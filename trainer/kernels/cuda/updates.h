// The updates of variables by an optimizer's rules (trainer/optimizer/update_ops.h).

#ifndef TRAINER_KERNELS_CUDA_UPDATES_H_
#define TRAINER_KERNELS_CUDA_UPDATES_H_

#include <cstdint>

#include "trainer/graph/step_block.h"

namespace taas::cuda {

// Of one variable, which is changed in place as its slots are. Where `rows` is not null and the
// rule leaves zeros alone, only those of its rows are touched that are listed there.
struct UpdateParams {
  const StepBlock* block = nullptr;  // A fault in it: nothing is changed.
  const float* gradient = nullptr;
  float* value = nullptr;
  float* slots[3] = {};      // The rule's own.
  float* average = nullptr;  // Null: none.
  const int32_t* rows = nullptr;
  const int32_t* rows_count = nullptr;
  int64_t width = 1;  // Elements of a row.
  int64_t count = 0;
  double power = 0;       // Of ApplyFtrl: -learning_rate_power.
  bool nesterov = false;  // Of ApplyMomentum.
  bool centered = false;  // Of ApplyRmsProp.
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_UPDATES_H_
