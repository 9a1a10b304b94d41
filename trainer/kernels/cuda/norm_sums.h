// Sums over the rows of [rows, channels], of the gradients of a normalization's scale and offset.

#ifndef TRAINER_KERNELS_CUDA_NORM_SUMS_H_
#define TRAINER_KERNELS_CUDA_NORM_SUMS_H_

#include <cstdint>

#include "trainer/kernels/cuda/channel_tiles.h"

namespace taas::cuda {

// What batch normalization makes of a channel's x: scale · (x - mean) / √(variance + epsilon) +
// offset.
struct ChannelNorm {
  const float* mean;
  const float* variance;
  const float* scale;
  const float* offset;
  float epsilon;
};

// parts[split][0][c] = Σ dy, [1] = Σ dy · (x - mean) · inverse, of the rows of that split. Mean and
// inverse deviation are the row's, or those of the channel: then `inverse` is null and left out. dy
// is 0 where relu's result is at most 0, unless that has no offset.
struct NormSumPartsParams {
  const float* dy;
  const float* x;
  const float* mean;
  const float* inverse;
  ChannelNorm relu;
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

#if defined(__CUDACC__) || defined(TRAINER_CUDA_EMULATE_CUDA_ON_HOST_H_)

// A ChannelNorm of this thread's channels: factor · x + added. The same bits wherever it is
// computed, so that a gradient knows of each x whether a Relu has let it pass: what is rounded, and
// what is not, is written out.
template <typename V>
struct Affine {
  V factor = {}, added = {};

  Affine() = default;
  __device__ Affine(const ChannelNorm& norm, Place<V> c) {
    const float epsilon = norm.epsilon;
    factor = Each([epsilon](float v, float s) { return 1.0f / sqrtf(v + epsilon) * s; },
                  c.Load(norm.variance), c.Load(norm.scale));
    added = Each([](float o, float m, float f) { return fmaf(-m, f, o); }, c.Load(norm.offset),
                 c.Load(norm.mean), factor);
  }
  __device__ V Of(V x) const {
    return Each([](float of, float f, float a) { return fmaf(of, f, a); }, x, factor, added);
  }
  // Those of dy that a Relu behind it lets pass.
  __device__ V Passed(V dy, V x) const {
    return Each([](float d, float y) { return y > 0.0f ? d : 0.0f; }, dy, Of(x));
  }
};

#endif

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_NORM_SUMS_H_
