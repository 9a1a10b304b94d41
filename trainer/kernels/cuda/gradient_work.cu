// g = unscale · g, then clamped to [-limit, limit], or multiplied by limit / max(limit, √Σ g²);
// mean = (g1 + g2 + …) / towers.
//
// One launch has the gradients of many variables: each has blocks of its own, whose threads go
// round over its elements, or over those of the rows that are listed, whose number only the device
// knows. The norm is a sum per block, by shuffles, and one block that adds those: a fixed order, no
// atomics, and its factor stays on the device. 8 bytes per element in one pass; 12 by the norm,
// which needs two; 4 per tower and 4 of a mean.

#include "trainer/kernels/cuda/gradient_work.h"

#include "trainer/kernels/cuda/block_sums.h"
#include "trainer/kernels/cuda/kernels.h"

using namespace taas::cuda;

namespace {

// Calls `visit(place)` for this thread's share of the elements, as one of `blocks` blocks.
template <typename Visit>
__device__ void ForElementsOf(const GradientElements& elements, int64_t block, int64_t blocks,
                              const Visit& visit) {
  const bool listed = elements.rows != nullptr;
  const int64_t width = elements.width;
  const int64_t count = listed ? *elements.rows_count * width : elements.count;
  for (int64_t i = block * blockDim.x + threadIdx.x; i < count; i += blocks * blockDim.x) {
    visit(listed ? elements.rows[i / width] * width + i % width : i);
  }
}

// The part of this block; each has one at least, and blocks are as many as theirs together.
__device__ const GradientPart& PartOfBlock(const GradientsParams& p) {
  int part = 0;
  while (static_cast<int>(blockIdx.x) >= p.parts[part].first_block + p.parts[part].blocks) ++part;
  return p.parts[part];
}

template <typename Visit>
__device__ void ForBlocksElements(const GradientPart& part, const Visit& visit) {
  ForElementsOf(part.elements, static_cast<int>(blockIdx.x) - part.first_block, part.blocks,
                visit);
}

}  // namespace

// NaN stays, as in the processor's.
extern "C" __global__ void ClipByValueKernel(const GradientsParams p) {
  const GradientPart& part = PartOfBlock(p);
  ForBlocksElements(part, [&](int64_t at) {
    const float g = p.unscale * part.gradient[at];
    const float low = g < -p.limit ? -p.limit : g;
    part.gradient[at] = low > p.limit ? p.limit : low;
  });
}

// In double, as the sum of a hundred million squares: a tree in shared memory, of one block.
extern "C" __global__ void ClipFactorKernel(const ClipFactorParams p) {
  __shared__ double sums[kBlockThreads];
  double mine = 0;
  for (int64_t i = int64_t{threadIdx.x}; i < p.count; i += kBlockThreads) {
    mine += double{p.squares[i]};
  }
  sums[threadIdx.x] = mine;
  for (unsigned half = kBlockThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x != 0) return;
  const double norm = sqrt(sums[0]);
  const double limit = p.limit;
  // What is not finite is NaN when it is taken from itself.
  *p.factor = norm <= limit ? 1.0f : static_cast<float>(limit / norm + (norm - norm));
}

extern "C" __global__ void MeanGradientsKernel(const MeanParams p) {
  ForElementsOf(p.elements, blockIdx.x, gridDim.x, [&](int64_t at) {
    float sum = p.gradients[0][at];
    for (int i = 1; i < p.count; ++i) sum += p.gradients[i][at];
    p.mean[at] = p.factor * sum;
  });
}

extern "C" __global__ void ScaleGradientsKernel(const GradientsParams p) {
  const float factor = p.factor == nullptr ? 1.0f : *p.factor;
  if (factor == 1.0f && p.unscale == 1.0f) return;  // The norm is small enough.
  const GradientPart& part = PartOfBlock(p);
  ForBlocksElements(part, [&](int64_t at) {
    part.gradient[at] = factor * (p.unscale * part.gradient[at]);
  });
}

extern "C" __global__ void SquaresKernel(const GradientsParams p) {
  __shared__ float warps[kWarpsOfBlock];
  const GradientPart& part = PartOfBlock(p);
  float mine = 0;
  ForBlocksElements(part, [&](int64_t at) {
    const float g = p.unscale * part.gradient[at];
    mine += g * g;
  });
  const float sum = TeamSum<kBlockThreads>(mine, warps);
  if (threadIdx.x == 0) p.squares[blockIdx.x] = sum;
}
