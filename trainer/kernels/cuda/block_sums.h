// Sums and maxima over the threads of a warp or a block, for kernels: in an order that is fixed, so
// that the bits are the same from run to run, and the same in all threads.
//
// A team is a warp or a whole block; its memory for a block's sums, a float per warp, is shared and
// the kernel's (__shared__ arrays stand in kernels only).
//
// Ownership: borrows the shared memory. Threads: all of a team come. Errors: none.
//
//   __shared__ float warps[kWarpsOfBlock];
//   const float sum = TeamSum<kBlockThreads>(mine, warps);

#ifndef TRAINER_KERNELS_CUDA_BLOCK_SUMS_H_
#define TRAINER_KERNELS_CUDA_BLOCK_SUMS_H_

#include <cstdint>

namespace taas::cuda {

// Of teams; blocks are of as many threads whichever it is.
inline constexpr unsigned kWarpThreads = 32;
inline constexpr unsigned kBlockThreads = 256;
inline constexpr unsigned kWarpsOfBlock = kBlockThreads / kWarpThreads;

// Rows of more columns are a block's: a warp's lanes then go round 32 times.
inline constexpr int kWarpColumnsMax = 1024;

#if defined(__CUDACC__) || defined(TRAINER_CUDA_EMULATE_CUDA_ON_HOST_H_)

inline constexpr unsigned kAllLanes = 0xffffffff;

// Each lane adds what the one across has: the same two numbers on both sides, so the same bits.
__device__ inline float WarpSum(float value) {
  for (int bit = 16; bit > 0; bit /= 2) value += __shfl_xor_sync(kAllLanes, value, bit);
  return value;
}

// A NaN is passed over.
__device__ inline float WarpLargest(float value) {
  for (int bit = 16; bit > 0; bit /= 2) {
    const float other = __shfl_xor_sync(kAllLanes, value, bit);
    value = other > value ? other : value;
  }
  return value;
}

template <unsigned kThreads>
__device__ float TeamSum(float value, float* warps) {
  value = WarpSum(value);
  if (kThreads == kWarpThreads) return value;
  if (threadIdx.x % kWarpThreads == 0) warps[threadIdx.x / kWarpThreads] = value;
  __syncthreads();
  float sum = warps[0];
  for (unsigned warp = 1; warp < kThreads / kWarpThreads; ++warp) sum += warps[warp];
  __syncthreads();  // The memory is free for the next sum.
  return sum;
}

template <unsigned kThreads>
__device__ float TeamLargest(float value, float* warps) {
  value = WarpLargest(value);
  if (kThreads == kWarpThreads) return value;
  if (threadIdx.x % kWarpThreads == 0) warps[threadIdx.x / kWarpThreads] = value;
  __syncthreads();
  float largest = warps[0];
  for (unsigned warp = 1; warp < kThreads / kWarpThreads; ++warp) {
    largest = warps[warp] > largest ? warps[warp] : largest;
  }
  __syncthreads();
  return largest;
}

// The sum of partial sums in memory, by all threads of one block.
__device__ inline float BlockSumOf(const float* parts, int64_t count, float* warps) {
  float mine = 0;
  for (int64_t i = int64_t{threadIdx.x}; i < count; i += kBlockThreads) mine += parts[i];
  return TeamSum<kBlockThreads>(mine, warps);
}

// Which row is this team's, and where its thread begins in it.
template <unsigned kThreads>
__device__ int64_t TeamRow() {
  return (int64_t{blockIdx.x} * kBlockThreads + threadIdx.x) / kThreads;
}

#endif

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_BLOCK_SUMS_H_
