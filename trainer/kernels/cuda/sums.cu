// y = factor · Σ x over neighbouring axes of x[outer, middle, inner], and the reverse. Bound by
// memory: 4 bytes per element that is added.
//
// Where inner is 1, rows are added: a warp takes a row of up to 1'024 columns, a block a longer one
// or, where there are few rows, a part of it. Else columns are: a block takes 32 of them, a thread
// one column of each 8th row; where there are fewer, a warp takes as many rows at once as it has
// lanes for. Parts are sums in scratch memory, which the same kernels add up in a second launch:
// all orders of additions follow from the shape alone, and no sum depends on who comes first, as it
// does with atomic additions.
//
// A thread adds to four sums in turn, so that four loads are under way.

#include "trainer/kernels/cuda/sums.h"

#include "trainer/kernels/cuda/block_sums.h"
#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/places.h"

using namespace taas::cuda;

namespace {

__device__ float TermOf(Term term, float x) {
  if (term == Term::kSquare) return x * x;
  return term == Term::kSize ? fabsf(x) : x;
}

// Of x[first], x[first + step], … before x[end].
__device__ float ThreadSum(const float* x, int64_t first, int64_t end, int64_t step, Term term) {
  float sums[4] = {};
  int64_t i = first;
  for (; i + 3 * step < end; i += 4 * step) {
    for (int k = 0; k < 4; ++k) sums[k] += TermOf(term, x[i + k * step]);
  }
  for (; i < end; i += step) sums[0] += TermOf(term, x[i]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

extern "C" __global__ void ColumnSumsKernel(const ColumnSumsParams p) {
  __shared__ float sums[kBlockThreads];
  const int64_t part = blockIdx.x % p.parts;
  const int64_t tile = blockIdx.x / p.parts % p.tiles;
  const int64_t outer = blockIdx.x / p.parts / p.tiles;
  const int64_t first = tile * kWarpThreads;
  const unsigned width =
      p.inner - first < kWarpThreads ? static_cast<unsigned>(p.inner - first) : kWarpThreads;
  // Several rows at once only of a tensor that is one tile.
  const unsigned at_once = p.tiles == 1 ? kWarpThreads / width : 1;
  const unsigned lane = threadIdx.x % kWarpThreads, warp = threadIdx.x / kWarpThreads;
  const int64_t begin = part * p.share;
  const int64_t end = begin + p.share < p.middle ? begin + p.share : p.middle;
  if (lane < width * at_once) {
    const float* const x = p.x + (outer * p.middle * p.inner + first + lane % width);
    const int64_t row = begin + warp * at_once + lane / width;
    sums[threadIdx.x] = ThreadSum(x, row * p.inner, end * p.inner,
                                  kWarpsOfBlock * at_once * p.inner, Term::kItself);
  }
  __syncthreads();
  if (threadIdx.x >= width) return;  // One thread for each column.
  float sum = 0;
  for (unsigned from = 0; from < kBlockThreads; from += kWarpThreads) {
    for (unsigned k = 0; k < at_once; ++k) sum += sums[from + k * width + threadIdx.x];
  }
  p.y[(outer * p.parts + part) * p.inner + first + threadIdx.x] = p.factor * sum;
}

extern "C" __global__ void ExpandKernel(const ExpandParams p) {
  ForPlaces(p.count, p.by_fours, [&](auto place) {
    const int64_t row = place.i / p.inner;
    const int64_t from = row / p.middle * p.inner + (place.i - row * p.inner);
    place.Store(p.y, Each([&](float x) { return p.factor * x; }, place.At(from).Load(p.x)));
  });
}

extern "C" __global__ void RowSumsByBlockKernel(const RowSumsParams p) {
  __shared__ float warps[kWarpsOfBlock];
  const int64_t row = blockIdx.x / p.parts;
  const int64_t begin = blockIdx.x % p.parts * p.share;
  const int64_t end = begin + p.share < p.columns ? begin + p.share : p.columns;
  const float mine =
      ThreadSum(p.x + row * p.columns, begin + threadIdx.x, end, kBlockThreads, p.term);
  const float sum = TeamSum<kBlockThreads>(mine, warps);
  if (threadIdx.x == 0) p.y[blockIdx.x] = p.factor * sum;
}

extern "C" __global__ void RowSumsByWarpKernel(const RowSumsParams p) {
  const int64_t row = TeamRow<kWarpThreads>();
  if (row >= p.rows) return;  // Whole warps of the last block are idle.
  const unsigned lane = threadIdx.x % kWarpThreads;
  const float mine = ThreadSum(p.x + row * p.columns, lane, p.columns, kWarpThreads, p.term);
  const float sum = WarpSum(mine);
  if (lane == 0) p.y[row] = p.factor * sum;
}
