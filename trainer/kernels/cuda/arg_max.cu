// y[row] = the first index of the largest of x[row, columns]. A warp takes a row: a lane goes over
// each 32nd column and keeps the first of its largest, then the lanes compare. Bound by memory:
// 4 bytes per element. Rows are a batch's, and many, so that a block for a row would gain nothing.
//
// As on the processor, where the search begins with the first element and takes what is larger: a
// NaN is passed over, but for the first element, which nothing is larger than.
//
// The share of rows that are right: blocks count theirs, and one thread adds the counts, which are
// exact in any order.

#include "trainer/kernels/cuda/arg_max.h"

#include "trainer/kernels/cuda/block_sums.h"
#include "trainer/kernels/cuda/kernels.h"

using namespace taas::cuda;

namespace {

// The same in all lanes, which all come.
__device__ int ArgMaxOfWarp(const float* x, int columns) {
  float largest = x[0];
  int at = 0;
  for (int i = static_cast<int>(threadIdx.x % kWarpThreads); i < columns; i += kWarpThreads) {
    const float value = x[i];
    if (value > largest) {
      largest = value;
      at = i;
    }
  }
  for (int bit = 16; bit > 0; bit /= 2) {
    const float value = __shfl_xor_sync(kAllLanes, largest, bit);
    const int from = __shfl_xor_sync(kAllLanes, at, bit);
    if (value > largest || (value == largest && from < at)) {
      largest = value;
      at = from;
    }
  }
  return at;
}

}  // namespace

extern "C" __global__ void ArgMaxKernel(const ArgMaxParams p) {
  const int64_t row = TeamRow<kWarpThreads>();
  if (row >= p.rows) return;  // Whole warps of the last block are idle.
  const int at = ArgMaxOfWarp(p.x + row * p.columns, p.columns);
  if (threadIdx.x % kWarpThreads == 0) p.y[row] = at;
}

extern "C" __global__ void CountRightKernel(const CountRightParams p) {
  __shared__ int32_t warps[kWarpsOfBlock];
  const int64_t step = int64_t{gridDim.x} * kWarpsOfBlock;
  int32_t right = 0;
  for (int64_t row = TeamRow<kWarpThreads>(); row < p.rows; row += step) {
    right += ArgMaxOfWarp(p.x + row * p.columns, p.columns) == p.labels[row] ? 1 : 0;
  }
  if (threadIdx.x % kWarpThreads == 0) warps[threadIdx.x / kWarpThreads] = right;
  __syncthreads();
  if (threadIdx.x != 0) return;
  int32_t sum = 0;
  for (const int32_t of_warp : warps) sum += of_warp;
  p.counts[blockIdx.x] = sum;
}

extern "C" __global__ void ShareRightKernel(const ShareRightParams p) {
  int64_t right = 0;
  for (int i = 0; i < p.count_of_counts; ++i) right += p.counts[i];
  *p.y = p.rows == 0 ? 0.0f : static_cast<float>(right) / static_cast<float>(p.rows);
}
