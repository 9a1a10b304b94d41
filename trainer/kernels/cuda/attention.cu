// p = exp(s x - max) / Σ exp(s x - max) of a query's scores x with the keys that it sees;
// backwards p = exp(s x - log Σ) again and dx = s p (dp - Σ dy y), where Σ dy y is Σ dp p: y is p
// times the values, and has fewer elements.
//
// A row is a warp's (8 rows a block), or a block's where there are many keys: its threads go round
// over the keys, neighbours side by side, and its sums are shuffles in a fixed order. In place, of
// scores that a product has just left in the L2 cache. Forwards they are read once from there, then
// twice from the L1 cache, and written once: 8 bytes per score. Backwards p is made again, which
// costs a product but no memory from step to step: two are read and two written, 16 bytes. What a
// causal query does not see is not read, and half of all is that; zeros are written there, so that
// the products after it may take whole blocks.

#include "trainer/kernels/cuda/attention.h"

#include "trainer/kernels/cuda/block_sums.h"
#include "trainer/kernels/cuda/kernels.h"

using namespace taas::cuda;

namespace {

struct ScoreRow {
  int64_t head, query;  // Of those of this launch.
  int64_t seen;

  __device__ ScoreRow(const ScoreRows& rows, int64_t row)
      : head(row / rows.queries),
        query(row % rows.queries),
        seen(rows.causal ? rows.first + query + 1 : rows.keys) {}
};

template <unsigned kThreads>
__device__ void SoftmaxRow(const AttentionParams& p, float* warps) {
  const int64_t row = TeamRow<kThreads>();
  if (row >= p.rows.rows) return;  // The last block's warps may have none.
  const ScoreRow of(p.rows, row);
  float* const x = p.scores + row * p.rows.keys;
  const int64_t begin = threadIdx.x % kThreads;
  float most = x[0];
  for (int64_t i = begin; i < of.seen; i += kThreads) most = x[i] > most ? x[i] : most;
  most = TeamLargest<kThreads>(most, warps);
  float mine = 0;
  for (int64_t i = begin; i < of.seen; i += kThreads) mine += expf(p.scale * (x[i] - most));
  const float sum = TeamSum<kThreads>(mine, warps);
  const float share = 1.0f / sum;
  for (int64_t i = begin; i < p.rows.keys; i += kThreads) {
    x[i] = i < of.seen ? expf(p.scale * (x[i] - most)) * share : 0.0f;
  }
  if (begin == 0) p.log_sums[of.head * p.log_sums_apart + of.query] = p.scale * most + logf(sum);
}

template <unsigned kThreads>
__device__ void SoftmaxGradRow(const AttentionGradParams& p, float* warps) {
  const int64_t row = TeamRow<kThreads>();
  if (row >= p.rows.rows) return;  // The last block's warps may have none.
  const ScoreRow of(p.rows, row);
  const int64_t begin = threadIdx.x % kThreads;
  const int64_t at = of.head * p.y_apart + of.query * p.width;
  float mine = 0;
  for (int64_t i = begin; i < p.head; i += kThreads) mine += p.dy[at + i] * p.y[at + i];
  const float mean = TeamSum<kThreads>(mine, warps);
  const float log_sum = p.log_sums[of.head * p.log_sums_apart + of.query];
  float* const x = p.p + row * p.rows.keys;
  float* const dx = p.dp + row * p.rows.keys;
  for (int64_t i = begin; i < p.rows.keys; i += kThreads) {
    const bool seen = i < of.seen;
    const float share = seen ? expf(p.scale * x[i] - log_sum) : 0.0f;
    dx[i] = seen ? share * (dx[i] - mean) * p.scale : 0.0f;
    x[i] = share;
  }
}

}  // namespace

extern "C" __global__ void AttentionBlockKernel(const AttentionParams p) {
  __shared__ float warps[kWarpsOfBlock];
  SoftmaxRow<kBlockThreads>(p, warps);
}

extern "C" __global__ void AttentionGradBlockKernel(const AttentionGradParams p) {
  __shared__ float warps[kWarpsOfBlock];
  SoftmaxGradRow<kBlockThreads>(p, warps);
}

extern "C" __global__ void AttentionGradWarpKernel(const AttentionGradParams p) {
  SoftmaxGradRow<kWarpThreads>(p, nullptr);
}

extern "C" __global__ void AttentionWarpKernel(const AttentionParams p) {
  SoftmaxRow<kWarpThreads>(p, nullptr);
}
