// Batch normalization per channel.

#ifndef TRAINER_KERNELS_CUDA_BATCH_NORM_H_
#define TRAINER_KERNELS_CUDA_BATCH_NORM_H_

#include <cstdint>

#include "trainer/kernels/cuda/channel_tiles.h"

namespace taas::cuda {

// parts[split][0][c] = the mean of x's rows in that split, [1] the sum of the squares of what they
// differ from it.
struct MomentPartsParams {
  const float* x;
  float* parts;
  ChannelTiles tiles;
};

// The moments of all rows from those of the splits; `variance` divides by the number of rows,
// `unbiased` by one less.
struct MomentsParams {
  const float* parts;
  float* mean;
  float* variance;
  float* unbiased;
  ChannelTiles tiles;
};

// y = scale · (x - mean) / √(variance + epsilon) + offset.
struct NormalizeParams {
  const float* x;
  const float* mean;
  const float* variance;
  const float* scale;
  const float* offset;
  float* y;
  float epsilon;
  ChannelTiles tiles;
};

// dx = scale / deviation · (dy - doffset / rows - z · dscale / rows), z = (x - mean) / deviation.
struct NormalizeGradParams {
  const float* dy;
  const float* x;
  const float* scale;
  const float* mean;
  const float* variance;
  const float* dscale;
  const float* doffset;
  float* dx;
  float epsilon;
  ChannelTiles tiles;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_BATCH_NORM_H_
