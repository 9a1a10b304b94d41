// Sums over the rows of [rows, channels], of the gradients of a normalization's scale and offset.

#ifndef TRAINER_KERNELS_CUDA_NORM_SUMS_H_
#define TRAINER_KERNELS_CUDA_NORM_SUMS_H_

#include <cstdint>

#include "trainer/kernels/cuda/channel_tiles.h"

namespace taas::cuda {

// parts[split][0][c] = Σ dy, [1] = Σ dy · (x - mean) · inverse, of the rows of that split. Mean and
// inverse deviation are the row's, or those of the channel: then `inverse` is null and left out.
struct NormSumPartsParams {
  const float* dy;
  const float* x;
  const float* mean;
  const float* inverse;
  float* parts;
  ChannelTiles tiles;
};

// The sums of the splits; dscale is divided by √(variance + epsilon) unless variance is null.
struct NormSumsParams {
  const float* parts;
  const float* variance;
  float* dscale;
  float* doffset;
  float epsilon;
  ChannelTiles tiles;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_NORM_SUMS_H_
