// Layer normalization of rows, and the gradient of what it normalizes.

#ifndef TRAINER_KERNELS_CUDA_LAYER_NORM_H_
#define TRAINER_KERNELS_CUDA_LAYER_NORM_H_

#include <cstdint>

namespace taas::cuda {

// y = (x - mean) · inverse · scale + offset, of each row with its mean and its inverse =
// 1 / √(variance + epsilon).
struct LayerNormParams {
  const float* x;
  const float* scale;
  const float* offset;
  float* y;
  float* mean;
  float* inverse;
  int64_t rows;
  int64_t columns;
  float epsilon;
};

// With z = (x - mean) · inverse and g = dy · scale: dx = inverse · (g - mean(g) - z · mean(g · z)).
struct LayerNormGradParams {
  const float* dy;
  const float* x;
  const float* scale;
  const float* mean;
  const float* inverse;
  float* dx;
  int64_t rows;
  int64_t columns;
};

// Of rows that are quads (row_quads.h); and parts[block][0][c] = Σ dy, [1][c] = Σ dy · z, of the
// rows of that block, which go round.
struct LayerNormGradQuadsParams {
  LayerNormGradParams of;
  float* parts;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_LAYER_NORM_H_
