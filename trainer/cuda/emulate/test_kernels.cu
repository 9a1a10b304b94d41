#include "trainer/cuda/emulate/test_kernels.h"

namespace taas::cuda::emulate {
namespace {

constexpr unsigned kAll = 0xffffffff;

__device__ int64_t ElementOf() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

__device__ float WarpSum(float value) {
  for (unsigned delta = 16; delta > 0; delta /= 2) value += __shfl_down_sync(kAll, value, delta);
  return value;
}

__device__ float ElementOrZero(const SumParams& p) {
  const int64_t i = ElementOf();
  return i < p.count ? p.x[i] : 0.0f;
}

}  // namespace

__global__ void FillKernel(FillParams p) {
  const int64_t i = ElementOf();
  if (i >= p.count) return;  // The last block is partly idle.
  p.y[i] = p.value;
}

__global__ void FillOneTooMany(FillParams p) {
  const int64_t i = ElementOf();
  if (i > p.count) return;
  p.y[i] = p.value;
}

__global__ void FillByEachBlock(FillParams p) {
  if (threadIdx.x < p.count) p.y[threadIdx.x] = p.value;
}

__global__ void BlockSum(SumParams p) {
  __shared__ float warps[8];
  const float sum = WarpSum(ElementOrZero(p));
  if (threadIdx.x % warpSize == 0) warps[threadIdx.x / warpSize] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  float all = 0;
  for (unsigned warp = 0; warp < blockDim.x / warpSize; ++warp) all += warps[warp];
  p.sums[blockIdx.x] = all;
}

__global__ void BlockSumWithoutBarrier(SumParams p) {
  __shared__ float warps[8];
  const float sum = WarpSum(ElementOrZero(p));
  if (threadIdx.x % warpSize == 0) warps[threadIdx.x / warpSize] = sum;
  if (threadIdx.x != 0) return;
  float all = 0;
  for (unsigned warp = 0; warp < blockDim.x / warpSize; ++warp) all += warps[warp];
  p.sums[blockIdx.x] = all;
}

__global__ void BlockSumOfUnwritten(SumParams p) {
  __shared__ float warps[8];
  const float sum = WarpSum(ElementOrZero(p));
  if (threadIdx.x % warpSize == 0) warps[threadIdx.x / warpSize] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  float all = 0;
  for (const float of_warp : warps) all += of_warp;
  p.sums[blockIdx.x] = all;
}

__global__ void BlockSumBarrierForSome(SumParams p) {
  __shared__ float first;
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0) first = ElementOrZero(p);
    __syncthreads();
  } else {
    __syncthreads();
  }
  if (threadIdx.x == 1) p.sums[blockIdx.x] = first;
}

__global__ void BlockSumAfterReturn(SumParams p) {
  if (ElementOf() >= p.count) return;
  __syncthreads();
  p.sums[ElementOf()] = p.x[ElementOf()];
}

__global__ void WarpSumOfHalfTheMask(SumParams p) {
  float sum = ElementOrZero(p);
  if (threadIdx.x < 16) {
    for (unsigned delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(kAll, sum, delta);
  }
  if (threadIdx.x == 0) p.sums[blockIdx.x] = sum;
}

__global__ void WarpSumWithAMaskOfHalf(SumParams p) {
  float sum = ElementOrZero(p);
  if (threadIdx.x >= 16) return;
  for (unsigned delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(0xffff, sum, delta);
  if (threadIdx.x == 0) p.sums[blockIdx.x] = sum;
}

__global__ void HandOverPastTheMask(SumParams p) {
  __shared__ float cell;
  if (threadIdx.x < 16) {
    for (int i = 0; i < 3; ++i) __syncwarp(0xffff);
    if (threadIdx.x == 0) p.sums[0] = cell;
  } else if (threadIdx.x == 16) {
    cell = p.x[0];
  }
}

__global__ void WriteWhatAnotherWarpReads(SumParams p) {
  const float first = p.sums[0];
  __syncwarp();
  if (threadIdx.x == 63) p.sums[0] = first + 1;
}

__global__ void CopyMisaligned(SumParams p) {
  const auto* const from = reinterpret_cast<const float4*>(p.x + 1);
  if (threadIdx.x == 0) *reinterpret_cast<float4*>(p.sums) = *from;
}

__global__ void AtomicSum(SumParams p) {
  if (ElementOf() < p.count) atomicAdd(&p.sums[0], p.x[ElementOf()]);
}

__global__ void SumWithoutAtomic(SumParams p) {
  if (ElementOf() < p.count) p.sums[0] += p.x[ElementOf()];
}

__global__ void SwapInWarp(SumParams p) {
  __shared__ float cells[256];
  cells[threadIdx.x] = p.x[ElementOf()];
  __syncwarp();
  p.sums[ElementOf()] = cells[threadIdx.x ^ 1];
}

__global__ void SwapInWarpWithoutBarrier(SumParams p) {
  __shared__ float cells[256];
  cells[threadIdx.x] = p.x[ElementOf()];
  p.sums[ElementOf()] = cells[threadIdx.x ^ 1];
}

}  // namespace taas::cuda::emulate
