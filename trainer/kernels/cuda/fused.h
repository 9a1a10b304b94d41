// What the kernel of a chain of elementwise ops takes: the chain (trainer/graph/fused_program.h) as
// steps of a machine that holds one result, and few others beside it.

#ifndef TRAINER_KERNELS_CUDA_FUSED_H_
#define TRAINER_KERNELS_CUDA_FUSED_H_

#include <cstdint>

namespace taas::cuda {

enum class FusedStepCode : uint8_t {
  kAdd,
  kSub,
  kMul,
  kScale,
  kRelu,
  kSigmoid,
  kTanh,
  kReluGrad,
  kSigmoidGrad,
  kTanhGrad,
  kAddRelu,
};

struct FusedStep {
  // Operands: an input's number; the result of the step before; or what is kept at k, as -2 - k.
  static constexpr int8_t kLast = -1;
  static constexpr int8_t kKeptFirst = -2;
  // Where the result is kept.
  static constexpr int8_t kNowhere = -1;

  FusedStepCode code;
  int8_t a;
  int8_t b;  // kLast of codes with one operand.
  int8_t keep;
  float factor;  // Of kScale.
};

struct FusedParams {
  // More than a session makes (trainer/graph/chain_fusion.cc), and little beside the 4 KB that a
  // launch may have.
  static constexpr int kInputsMax = 16;
  static constexpr int kStepsMax = 32;
  static constexpr int kKeptMax = 16;

  const float* x[kInputsMax];
  int64_t columns[kInputsMax];  // Of a vector that is added to rows; else 0.
  FusedStep steps[kStepsMax];
  int count_of_steps;
  float* y;
  int64_t count;
  bool by_fours;  // by_fours.h; all columns are fours, too.
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_FUSED_H_
