// Kernels that are right, and the same with a mistake each, for the emulator's test.
//
// Ownership: borrow what they point to, memory of the device. Threads and errors: those of a
// launch.
//
//   FillKernel({.y = y.data(), .count = 1'000, .value = 2});

#ifndef TRAINER_CUDA_EMULATE_TEST_KERNELS_H_
#define TRAINER_CUDA_EMULATE_TEST_KERNELS_H_

#include <cstdint>

#include "trainer/cuda/emulate/cuda_on_host.h"

namespace taas::cuda::emulate {

struct FillParams {
  float* y;
  int64_t count;
  float value;
};
// y[i] = value. One thread per element.
__global__ void FillKernel(FillParams p);
__global__ void FillOneTooMany(FillParams p);
// Each block writes all of it.
__global__ void FillByEachBlock(FillParams p);

struct SumParams {
  const float* x;
  float* sums;
  int64_t count;
};
// sums[block] = sum of x over the block's elements, at most 256. By shuffles in each warp, and
// shared memory between warps.
__global__ void BlockSum(SumParams p);
__global__ void BlockSumWithoutBarrier(SumParams p);
// The last warp's sum is not there where the block has fewer warps.
__global__ void BlockSumOfUnwritten(SumParams p);
__global__ void BlockSumBarrierForSome(SumParams p);
__global__ void BlockSumAfterReturn(SumParams p);
// A shuffle of lanes that have ended, of one that is not in the mask.
__global__ void WarpSumOfHalfTheMask(SumParams p);
__global__ void WarpSumWithAMaskOfHalf(SumParams p);
// Some lanes wait for each other, the others do not.
__global__ void HandOverPastTheMask(SumParams p);
// x[i] is read by each lane of two warps, one of which then writes it.
__global__ void WriteWhatAnotherWarpReads(SumParams p);
// By four at once, from an address that is none of four.
__global__ void CopyMisaligned(SumParams p);

// sums[0] += each element of x, in whatever order.
__global__ void AtomicSum(SumParams p);
__global__ void SumWithoutAtomic(SumParams p);

// Neighbours in a warp exchange through shared memory, with a barrier of the warp, or without.
__global__ void SwapInWarp(SumParams p);
__global__ void SwapInWarpWithoutBarrier(SumParams p);

}  // namespace taas::cuda::emulate

#endif  // TRAINER_CUDA_EMULATE_TEST_KERNELS_H_
