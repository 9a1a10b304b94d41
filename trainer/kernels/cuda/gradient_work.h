// What is done to gradients before they are applied: the loss scale is divided out, they are
// clipped, and those of several towers are averaged (trainer/optimizer/update_ops.h).

#ifndef TRAINER_KERNELS_CUDA_GRADIENT_WORK_H_
#define TRAINER_KERNELS_CUDA_GRADIENT_WORK_H_

#include <cstdint>

namespace taas::cuda {

// Those elements of a variable's gradient that may not be zero.
struct GradientElements {
  const int32_t* rows = nullptr;  // Null: all of them.
  const int32_t* rows_count = nullptr;
  int64_t width = 1;
  int64_t count = 0;
};

// A variable's gradient, and its blocks of a launch.
struct GradientPart {
  float* gradient = nullptr;
  GradientElements elements{};
  int32_t first_block = 0;
  int32_t blocks = 0;
};

// As many gradients as the arguments of a kernel have room for (4 KiB).
struct GradientsParams {
  static constexpr int kPartsMax = 64;
  GradientPart parts[kPartsMax] = {};
  float unscale = 1;
  float limit = 0;                // Of ClipByValueKernel.
  float* squares = nullptr;       // Of SquaresKernel: a sum per block.
  const float* factor = nullptr;  // Of ScaleGradientsKernel; null: 1.
};

// factor = limit / √Σ squares, at most 1; NaN if that sum is not finite.
struct ClipFactorParams {
  const float* squares;
  float* factor;
  int64_t count;
  float limit;
};

// mean = factor · (the sum of `count` gradients, added in their order); mean may be the first.
struct MeanParams {
  static constexpr int kGradientsMax = 64;
  const float* gradients[kGradientsMax] = {};
  int count = 0;
  float factor = 1;
  float* mean = nullptr;
  GradientElements elements{};
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_GRADIENT_WORK_H_
