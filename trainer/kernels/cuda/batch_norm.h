// Batch normalization per channel.

#ifndef TRAINER_KERNELS_CUDA_BATCH_NORM_H_
#define TRAINER_KERNELS_CUDA_BATCH_NORM_H_

#include <cstdint>

#include "trainer/kernels/cuda/channel_tiles.h"
#include "trainer/kernels/cuda/norm_sums.h"

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

// y = norm of x; with `relu` the larger of that and 0, and NaN stays.
struct NormalizeParams {
  const float* x;
  float* y;
  ChannelNorm norm;
  bool relu;
  ChannelTiles tiles;
};

// dx = scale / deviation · (dy - doffset / rows - z · dscale / rows), z = (x - mean) / deviation;
// dy is 0 where the norm is at most 0, unless that has no offset.
struct NormalizeGradParams {
  const float* dy;
  const float* x;
  ChannelNorm norm;
  const float* dscale;
  const float* doffset;
  float* dx;
  ChannelTiles tiles;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_BATCH_NORM_H_
