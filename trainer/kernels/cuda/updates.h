// The updates of variables by an optimizer's rules (trainer/optimizer/update_ops.h).

#ifndef TRAINER_KERNELS_CUDA_UPDATES_H_
#define TRAINER_KERNELS_CUDA_UPDATES_H_

#include <cstdint>

#include "trainer/graph/step_block.h"

namespace taas::cuda {

// A variable among those of a launch, and the first of its blocks.
struct UpdatePart {
  int64_t at = 0;  // Where it begins in each of the arrays.
  int64_t count = 0;
  int32_t first_block = 0;
};

// As many variables as the arguments of a kernel have room for (4 KiB): more than GPT-2 has, or a
// ResNet-50 but for one. Values are changed in place as slots are. Where `rows` is not null and the
// rule leaves zeros alone, only those rows of the variable, which is alone then, are touched that
// are listed there.
struct UpdateParams {
  static constexpr int kPartsMax = 160;
  UpdatePart parts[kPartsMax] = {};  // By their first blocks.
  int32_t parts_count = 0;
  int32_t elements = 0;              // Of a block at most; each has those of one variable.
  const StepBlock* block = nullptr;  // A fault in it: nothing is changed.
  const float* gradient = nullptr;
  float* value = nullptr;
  float* slots[3] = {};      // The rule's own.
  float* average = nullptr;  // Null: none.
  const int32_t* rows = nullptr;
  const int32_t* rows_count = nullptr;
  int64_t width = 1;      // Elements of a row.
  double power = 0;       // Of ApplyFtrl: -learning_rate_power.
  bool nesterov = false;  // Of ApplyMomentum.
  bool centered = false;  // Of ApplyRmsProp.
};
static_assert(sizeof(UpdateParams) <= 4096);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_UPDATES_H_
