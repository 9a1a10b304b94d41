// p = exp(x - max x) / Σ exp(x - max x); loss = log Σ exp(x - max x) - (x[label] - max x): nothing
// overflows, and a confident answer keeps its digits.
//
// A row is a warp's (8 rows a block), or a block's where there are many classes: its threads go
// round over the classes, neighbours side by side, and its sums are shuffles in a fixed order. The
// row is read from memory once, then twice from the caches: 8 bytes per element forwards and
// backwards. Exponentials are taken twice, which costs less than to write and read them.

#include "trainer/kernels/cuda/softmax_loss.h"

#include "trainer/kernels/cuda/block_sums.h"
#include "trainer/kernels/cuda/kernels.h"

using namespace taas;
using namespace taas::cuda;

namespace {

template <unsigned kThreads>
__device__ void SoftmaxLossRow(const SoftmaxLossParams& p, float* warps) {
  const int64_t row = TeamRow<kThreads>();
  if (row >= p.rows) return;  // The last block's warps may have none.
  const float* const x = p.logits + row * p.classes;
  float* const y = p.probabilities + row * p.classes;
  const int64_t begin = threadIdx.x % kThreads;
  float most = x[0];
  for (int64_t i = begin; i < p.classes; i += kThreads) most = x[i] > most ? x[i] : most;
  most = TeamLargest<kThreads>(most, warps);
  float mine = 0;
  for (int64_t i = begin; i < p.classes; i += kThreads) mine += expf(x[i] - most);
  const float sum = TeamSum<kThreads>(mine, warps);
  const float share = 1.0f / sum;
  for (int64_t i = begin; i < p.classes; i += kThreads) y[i] = expf(x[i] - most) * share;
  if (begin != 0) return;
  const int32_t label = p.labels[row];
  const bool known = label >= 0 && label < p.classes;  // Else it is no place in memory.
  p.row_losses[row] = known ? logf(sum) - (x[label] - most) : 0.0f;
}

template <unsigned kThreads>
__device__ void SoftmaxLossGradRow(const SoftmaxLossGradParams& p) {
  const int64_t row = TeamRow<kThreads>();
  if (row >= p.rows) return;  // The last block's warps may have none.
  const float factor = *p.dloss / static_cast<float>(p.rows);
  const int32_t label = p.labels[row];
  const int64_t at = row * p.classes;
  for (int64_t i = threadIdx.x % kThreads; i < p.classes; i += kThreads) {
    const float scaled = factor * p.probabilities[at + i];
    p.dlogits[at + i] = i == label ? scaled - factor : scaled;
  }
}

}  // namespace

extern "C" __global__ void MeanLossKernel(const MeanLossParams p) {
  __shared__ float warps[kWarpsOfBlock];
  __shared__ unsigned long long first;
  ReportFirstOutside(p.report, Fault::Kind::kLabel, p.labels, p.rows, p.classes, &first);
  const float sum = BlockSumOf(p.row_losses, p.rows, warps);
  if (threadIdx.x != 0) return;
  *p.loss = p.rows == 0 ? 0.0f : sum / static_cast<float>(p.rows);
}

extern "C" __global__ void SoftmaxLossBlockKernel(const SoftmaxLossParams p) {
  __shared__ float warps[kWarpsOfBlock];
  SoftmaxLossRow<kBlockThreads>(p, warps);
}

extern "C" __global__ void SoftmaxLossGradBlockKernel(const SoftmaxLossGradParams p) {
  __shared__ unsigned long long first;
  if (blockIdx.x + 1 == gridDim.x) {
    ReportFirstOutside(p.report, Fault::Kind::kLabel, p.labels, p.rows, p.classes, &first);
  } else {
    SoftmaxLossGradRow<kBlockThreads>(p);
  }
}

extern "C" __global__ void SoftmaxLossGradWarpKernel(const SoftmaxLossGradParams p) {
  __shared__ unsigned long long first;
  if (blockIdx.x + 1 == gridDim.x) {
    ReportFirstOutside(p.report, Fault::Kind::kLabel, p.labels, p.rows, p.classes, &first);
  } else {
    SoftmaxLossGradRow<kWarpThreads>(p);
  }
}

extern "C" __global__ void SoftmaxLossWarpKernel(const SoftmaxLossParams p) {
  SoftmaxLossRow<kWarpThreads>(p, nullptr);
}
