// y = u(layer, step, i) < rate ? 0 : x / (1 - rate).
//
// One thread per element; its number is a hash of its place, so no state is kept and the gradient
// draws the same ones. The bits are the processor's (image_loops_body.inc). 8 bytes per element,
// bound by memory: the hash is some ten integer operations, the step's key some ten more.

#include "trainer/kernels/cuda/dropout.h"

#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/random_bits.h"

using namespace taas::cuda;

namespace {

// Wellons' lowbias32, as in the processor's loop.
__device__ uint32_t Mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  x ^= x >> 16;
  return x;
}

}  // namespace

extern "C" __global__ void DropoutKernel(const DropoutParams p) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= p.count) return;  // The last block is partly idle.
  constexpr float kUnit = 1.0f / 16777216.0f;  // Of 24 bits, all that a float has.
  SeededNumbers of_step{p.layer ^ (static_cast<uint64_t>(p.block->step) * kGolden)};
  const auto key = static_cast<uint32_t>(of_step.Next());
  const uint32_t drawn = Mix(static_cast<uint32_t>(i) ^ key) >> 8;
  const float unit = static_cast<float>(drawn) * kUnit;
  const float factor = 1.0f / (1.0f - p.rate);
  p.y[i] = unit >= p.rate ? factor * p.x[i] : 0.0f;
}
