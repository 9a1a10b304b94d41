// p = exp(x - max x) / Σ exp(x - max x); loss = log Σ exp(x - max x) - (x[label] - max x): nothing
// overflows, and a confident answer keeps its digits.
//
// A row is a warp's (8 rows a block), which has it in registers (row_quads.h) where its classes are
// fours, or a block's where there are many: then its threads go round over the classes, neighbours
// side by side. Its sums are shuffles in a fixed order. 8 bytes per element forwards and backwards;
// a row that is in no registers is read twice, the second time from memory if it is long.

#include "trainer/kernels/cuda/softmax_loss.h"

#include "trainer/kernels/cuda/block_sums.h"
#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/row_quads.h"

using namespace taas;
using namespace taas::cuda;

namespace {

// `factor` less where the place is the label's, which is `away`.
__device__ float LessAt(int64_t away, float factor, float x) { return away == 0 ? x - factor : x; }
__device__ float4 LessAt(int64_t away, float factor, float4 x) {
  return make_float4(LessAt(away, factor, x.x), LessAt(away - 1, factor, x.y),
                     LessAt(away - 2, factor, x.z), LessAt(away - 3, factor, x.w));
}

// Of a row with that largest logit and sum of exponentials; by one thread.
__device__ void WriteRowLoss(const SoftmaxLossParams& p, int64_t row, float most, float sum) {
  const int32_t label = p.labels[row];
  const bool known = label >= 0 && label < p.classes;  // Else it is no place in memory.
  p.row_losses[row] = known ? logf(sum) - (p.logits[row * p.classes + label] - most) : 0.0f;
}

// Logits that a thread has on their way at once, which hides the memory's delay.
constexpr int kLogitsAtOnce = 8;

// Calls `visit(i)` for each kLogitsAtOnce-th of this thread's places in a row: i, i + kThreads, ….
template <unsigned kThreads, typename Visit>
__device__ void ForLogits(int64_t classes, const Visit& visit) {
  for (int64_t i = threadIdx.x % kThreads; i < classes; i += kLogitsAtOnce * int64_t{kThreads}) {
    visit(i);
  }
}

// The largest logit and the sum of exponentials on the way together: where a larger one comes, what
// was added up is scaled (Milakov and Gimelshein, 2018). So a row is read twice, not three times.
template <unsigned kThreads>
__device__ void SoftmaxLossRow(const SoftmaxLossParams& p, float* warps) {
  const int64_t row = TeamRow<kThreads>();
  if (row >= p.rows) return;  // The last block's warps may have none.
  const float* const logits = p.logits + row * p.classes;
  float* const y = p.result + row * p.classes;
  float most = -INFINITY;
  float sum = 0;
  ForLogits<kThreads>(p.classes, [&](int64_t first) {
    float x[kLogitsAtOnce];
    float larger = most;
    for (int k = 0; k < kLogitsAtOnce; ++k) {
      const int64_t i = first + k * int64_t{kThreads};
      x[k] = i < p.classes ? logits[i] : -INFINITY;
    }
    for (int k = 0; k < kLogitsAtOnce; ++k) larger = x[k] > larger ? x[k] : larger;
    const float base = larger == -INFINITY ? 0.0f : larger;  // Of -∞ alone: none has a share.
    sum *= expf(most - base);
    for (int k = 0; k < kLogitsAtOnce; ++k) sum += expf(x[k] - base);
    most = larger;
  });
  const float most_of_all = TeamLargest<kThreads>(most, warps);
  const float base = most_of_all == -INFINITY ? 0.0f : most_of_all;
  sum = TeamSum<kThreads>(sum * expf(most - base), warps);
  const float share = 1.0f / sum;
  const int32_t label = p.labels[row];
  ForLogits<kThreads>(p.classes, [&](int64_t first) {
    float x[kLogitsAtOnce];
    for (int k = 0; k < kLogitsAtOnce; ++k) {
      const int64_t i = first + k * int64_t{kThreads};
      x[k] = i < p.classes ? logits[i] : 0.0f;
    }
    for (int k = 0; k < kLogitsAtOnce; ++k) {
      const int64_t i = first + k * int64_t{kThreads};
      if (i >= p.classes) continue;
      const float of_sum = expf(x[k] - most_of_all) * share;
      y[i] = LessAt(label - i, p.at_label, p.scale * of_sum);
    }
  });
  if (threadIdx.x % kThreads == 0) WriteRowLoss(p, row, most_of_all, sum);
}

// V is float, or float4 where each row begins at a multiple of 16 bytes.
template <unsigned kThreads, typename V>
__device__ void SoftmaxLossGradRow(const SoftmaxLossGradParams& p) {
  const int64_t row = TeamRow<kThreads>();
  if (row >= p.rows) return;  // The last block's warps may have none.
  constexpr int64_t kWidth = sizeof(V) / sizeof(float);
  const float factor = *p.dloss / static_cast<float>(p.rows);
  const int32_t label = p.labels[row];
  const int64_t begin = row * p.classes;
  for (int64_t i = threadIdx.x % kThreads * kWidth; i < p.classes; i += kThreads * kWidth) {
    const Place<V> at{begin + i};
    const V scaled = Each([factor](float of) { return factor * of; }, at.Load(p.probabilities));
    at.Store(p.dlogits, LessAt(label - i, factor, scaled));
  }
}

template <unsigned kThreads>
__device__ void SoftmaxLossGrad(const SoftmaxLossGradParams& p, unsigned long long* first) {
  if (blockIdx.x + 1 == gridDim.x) {
    ReportFirstOutside(p.report, Fault::Kind::kLabel, p.labels, p.rows, p.classes, first);
  } else if (p.by_fours) {
    SoftmaxLossGradRow<kThreads, float4>(p);
  } else {
    SoftmaxLossGradRow<kThreads, float>(p);
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
  SoftmaxLossGrad<kBlockThreads>(p, &first);
}

extern "C" __global__ void SoftmaxLossGradWarpKernel(const SoftmaxLossGradParams p) {
  __shared__ unsigned long long first;
  SoftmaxLossGrad<kWarpThreads>(p, &first);
}

extern "C" __global__ void SoftmaxLossQuadsKernel(const SoftmaxLossParams p) {
  const int64_t row = TeamRow<kWarpThreads>();
  if (row >= p.rows) return;  // The last block's warps may have none.
  RowQuads x;
  x.Load(p.logits + row * p.classes, p.classes, -INFINITY);
  float most = -INFINITY;
  for (int i = 0; i < kQuadsOfLane; ++i) {
    const float4 of = x.quads[i];
    const float ones[] = {of.x, of.y, of.z, of.w};
    for (const float one : ones) most = one > most ? one : most;
  }
  most = WarpLargest(most);
  float mine = 0;
  x.ForEach(p.classes, [&](float4& quad, Place<float4>) {
    quad = Each([most](float of) { return expf(of - most); }, quad);
    mine += SumOf(quad);
  });
  const float sum = WarpSum(mine);
  const float share = 1.0f / sum;
  const int32_t label = p.labels[row];
  const float scale = p.scale;
  x.ForEach(p.classes, [&](float4& quad, Place<float4> at) {
    const float4 scaled = Each([=](float of) { return scale * (of * share); }, quad);
    at.Store(p.result + row * p.classes, LessAt(label - at.i, p.at_label, scaled));
  });
  if (threadIdx.x % kWarpThreads == 0) WriteRowLoss(p, row, most, sum);
}

extern "C" __global__ void SoftmaxLossWarpKernel(const SoftmaxLossParams p) {
  SoftmaxLossRow<kWarpThreads>(p, nullptr);
}
