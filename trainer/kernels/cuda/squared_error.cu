// loss = Σ (a - b)² / n; da = (a - b) · 2 dloss / n.
//
// A thread goes round with the whole grid, so that a warp moves whole lines of memory; a block's
// sum is of shuffles, and one block more adds those of all blocks: a fixed order, no atomics.
// 8 bytes per element forwards, 12 backwards, so bound by memory.

#include "trainer/kernels/cuda/squared_error.h"

#include "trainer/kernels/cuda/block_sums.h"
#include "trainer/kernels/cuda/kernels.h"

using namespace taas::cuda;

extern "C" __global__ void MeanOfPartsKernel(const MeanOfPartsParams p) {
  __shared__ float warps[kWarpsOfBlock];
  const float sum = BlockSumOf(p.parts, p.count, warps);
  if (threadIdx.x != 0) return;
  *p.mean = p.divisor == 0 ? 0.0f : sum / static_cast<float>(p.divisor);
}

extern "C" __global__ void SquaredErrorGradKernel(const SquaredErrorGradParams p) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= p.count) return;  // The last block is partly idle.
  const float factor = 2.0f * *p.dloss / static_cast<float>(p.count);
  p.da[i] = factor * (p.a[i] - p.b[i]);
}

extern "C" __global__ void SquaredErrorKernel(const SquaredErrorParams p) {
  __shared__ float warps[kWarpsOfBlock];
  const int64_t step = int64_t{gridDim.x} * kBlockThreads;
  float mine = 0;
  for (int64_t i = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x; i < p.count; i += step) {
    const float difference = p.a[i] - p.b[i];
    mine += difference * difference;
  }
  const float sum = TeamSum<kBlockThreads>(mine, warps);
  if (threadIdx.x == 0) p.parts[blockIdx.x] = sum;
}
