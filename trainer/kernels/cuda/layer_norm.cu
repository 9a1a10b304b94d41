// y = (x - mean) / √(variance + epsilon) · scale + offset, of each row.
//
// A row is a warp's (8 rows a block), or a block's where it is long: its threads go round over the
// columns, neighbours side by side, and its sums are shuffles in a fixed order. The mean comes
// before the squares around it, so that no digits are lost; the row is read from memory once, and
// again from the caches: 8 bytes per element forwards, 12 backwards. The sums of the gradients of
// scale and offset are over rows, not columns: norm_sums.cu.

#include "trainer/kernels/cuda/layer_norm.h"

#include "trainer/kernels/cuda/block_sums.h"
#include "trainer/kernels/cuda/kernels.h"

using namespace taas::cuda;

namespace {

template <unsigned kThreads>
__device__ void LayerNormRow(const LayerNormParams& p, float* warps) {
  const int64_t row = TeamRow<kThreads>();
  if (row >= p.rows) return;  // The last block's warps may have none.
  const float* const x = p.x + row * p.columns;
  float* const y = p.y + row * p.columns;
  const int64_t begin = threadIdx.x % kThreads;
  const float share = 1.0f / static_cast<float>(p.columns);
  float sum = 0;
  for (int64_t i = begin; i < p.columns; i += kThreads) sum += x[i];
  const float mean = TeamSum<kThreads>(sum, warps) * share;
  float squares = 0;
  for (int64_t i = begin; i < p.columns; i += kThreads) {
    squares += (x[i] - mean) * (x[i] - mean);
  }
  const float variance = TeamSum<kThreads>(squares, warps) * share;
  const float inverse = 1.0f / sqrtf(variance + p.epsilon);
  for (int64_t i = begin; i < p.columns; i += kThreads) {
    y[i] = (x[i] - mean) * inverse * p.scale[i] + p.offset[i];
  }
  if (begin != 0) return;
  p.mean[row] = mean;
  p.inverse[row] = inverse;
}

template <unsigned kThreads>
__device__ void LayerNormGradRow(const LayerNormGradParams& p, float* warps) {
  const int64_t row = TeamRow<kThreads>();
  if (row >= p.rows) return;  // The last block's warps may have none.
  const float* const dy = p.dy + row * p.columns;
  const float* const x = p.x + row * p.columns;
  float* const dx = p.dx + row * p.columns;
  const int64_t begin = threadIdx.x % kThreads;
  const float share = 1.0f / static_cast<float>(p.columns);
  const float mean = p.mean[row];
  const float inverse = p.inverse[row];
  float sum = 0, products = 0;
  for (int64_t i = begin; i < p.columns; i += kThreads) {
    const float g = dy[i] * p.scale[i];
    sum += g;
    products += g * ((x[i] - mean) * inverse);
  }
  const float mean_g = TeamSum<kThreads>(sum, warps) * share;
  const float mean_gz = TeamSum<kThreads>(products, warps) * share;
  for (int64_t i = begin; i < p.columns; i += kThreads) {
    const float z = (x[i] - mean) * inverse;
    dx[i] = inverse * (dy[i] * p.scale[i] - mean_g - z * mean_gz);
  }
}

}  // namespace

extern "C" __global__ void LayerNormBlockKernel(const LayerNormParams p) {
  __shared__ float warps[kWarpsOfBlock];
  LayerNormRow<kBlockThreads>(p, warps);
}

extern "C" __global__ void LayerNormGradBlockKernel(const LayerNormGradParams p) {
  __shared__ float warps[kWarpsOfBlock];
  LayerNormGradRow<kBlockThreads>(p, warps);
}

extern "C" __global__ void LayerNormGradWarpKernel(const LayerNormGradParams p) {
  LayerNormGradRow<kWarpThreads>(p, nullptr);
}

extern "C" __global__ void LayerNormWarpKernel(const LayerNormParams p) {
  LayerNormRow<kWarpThreads>(p, nullptr);
}
