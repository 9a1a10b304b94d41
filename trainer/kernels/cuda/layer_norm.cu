// y = (x - mean) / √(variance + epsilon) · scale + offset, of each row.
//
// A row is a warp's (8 rows a block), which has it in registers (row_quads.h) where its columns are
// fours, or a block's where it is long: then its threads go round over the columns, neighbours side
// by side. Its sums are shuffles in a fixed order. The mean comes before the squares around it, so
// that no digits are lost; the row is read from memory once, and where it is in no registers again
// from the caches: 8 bytes per element forwards, 12 backwards.
//
// The sums of the gradients of scale and offset are over rows. Warps that have rows in registers
// add them up for their columns on the way, the warps of a block one after the other in shared
// memory; blocks, and all other rows, are for norm_sums.cu.

#include "trainer/kernels/cuda/layer_norm.h"

#include "trainer/kernels/cuda/block_sums.h"
#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/row_quads.h"

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

extern "C" __global__ void LayerNormGradQuadsKernel(const LayerNormGradQuadsParams p) {
  __shared__ float4 shared[2 * kWarpColumnsMax / 4];
  const int warp = static_cast<int>(threadIdx.x / kWarpThreads);
  const int64_t columns = p.of.columns;
  const float share = 1.0f / static_cast<float>(columns);
  RowQuads sums{}, products{};
  for (int64_t row = TeamRow<kWarpThreads>(); row < p.of.rows;
       row += int64_t{gridDim.x} * kWarpsOfBlock) {
    RowQuads g, z;
    g.Load(p.of.dy + row * columns, columns);
    z.Load(p.of.x + row * columns, columns);
    const float mean = p.of.mean[row];
    const float inverse = p.of.inverse[row];
    float sum_g = 0, sum_gz = 0;
    for (int i = 0; i < kQuadsOfLane; ++i) {
      const Place<float4> at{RowQuads::ColumnOf(i)};
      if (at.i >= columns) continue;
      const float4 dy = g.quads[i];
      z.quads[i] =
          Each([mean, inverse](float x) { return (x - mean) * inverse; }, z.quads[i]);
      sums.quads[i] = Each(Plus(), sums.quads[i], dy);
      products.quads[i] = Each([](float to, float d, float of) { return to + d * of; },
                               products.quads[i], dy, z.quads[i]);
      g.quads[i] = Each(Times(), dy, at.Load(p.of.scale));
      sum_g += SumOf(g.quads[i]);
      sum_gz += SumOf(Each(Times(), g.quads[i], z.quads[i]));
    }
    const float mean_g = WarpSum(sum_g) * share;
    const float mean_gz = WarpSum(sum_gz) * share;
    for (int i = 0; i < kQuadsOfLane; ++i) {
      const Place<float4> at{RowQuads::ColumnOf(i)};
      if (at.i >= columns) continue;
      at.Store(p.of.dx + row * columns,
               Each([=](float a, float b) { return inverse * (a - mean_g - b * mean_gz); },
                    g.quads[i], z.quads[i]));
    }
  }
  // One warp after the other, so that the order is the same each time.
  for (int adding = 0; adding < static_cast<int>(kWarpsOfBlock); ++adding) {
    for (int i = 0; i < kQuadsOfLane && adding == warp; ++i) {
      const Place<float4> at{RowQuads::ColumnOf(i)};
      if (at.i >= columns) continue;
      float4* const sum = shared + at.i / 4;
      float4* const product = shared + (columns + at.i) / 4;
      *sum = adding == 0 ? sums.quads[i] : Each(Plus(), *sum, sums.quads[i]);
      *product = adding == 0 ? products.quads[i] : Each(Plus(), *product, products.quads[i]);
    }
    __syncthreads();
  }
  float* const parts = p.parts + int64_t{blockIdx.x} * 2 * columns;
  for (int64_t i = threadIdx.x; i < 2 * columns / 4; i += kBlockThreads) {
    Place<float4>{4 * i}.Store(parts, shared[i]);
  }
}

extern "C" __global__ void LayerNormGradWarpKernel(const LayerNormGradParams p) {
  LayerNormGradRow<kWarpThreads>(p, nullptr);
}

extern "C" __global__ void LayerNormQuadsKernel(const LayerNormParams p) {
  const int64_t row = TeamRow<kWarpThreads>();
  if (row >= p.rows) return;  // The last block's warps may have none.
  const float share = 1.0f / static_cast<float>(p.columns);
  RowQuads x;
  x.Load(p.x + row * p.columns, p.columns);
  float sum = 0;
  for (int i = 0; i < kQuadsOfLane; ++i) sum += SumOf(x.quads[i]);
  const float mean = WarpSum(sum) * share;
  float squares = 0;
  x.ForEach(p.columns, [&](float4& quad, Place<float4>) {
    quad = Each([mean](float of) { return of - mean; }, quad);
    squares += SumOf(Each(Times(), quad, quad));
  });
  const float inverse = 1.0f / sqrtf(WarpSum(squares) * share + p.epsilon);
  x.ForEach(p.columns, [&](float4& quad, Place<float4> at) {
    at.Store(p.y + row * p.columns,
             Each([inverse](float of, float s, float o) { return of * inverse * s + o; }, quad,
                  at.Load(p.scale), at.Load(p.offset)));
  });
  if (threadIdx.x % kWarpThreads != 0) return;
  p.mean[row] = mean;
  p.inverse[row] = inverse;
}

extern "C" __global__ void LayerNormWarpKernel(const LayerNormParams p) {
  LayerNormRow<kWarpThreads>(p, nullptr);
}
