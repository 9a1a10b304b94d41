// y = u(layer, step, i) < rate ? 0 : x / (1 - rate).
//
// A thread has four elements (places.h); an element's number is a hash of its place, so no state is
// kept and the gradient draws the same ones. The bits are the processor's (image_loops_body.inc). 8
// bytes per element, bound by memory: the hash is some ten integer operations, the step's key, of
// each thread, some twenty.

#include "trainer/kernels/cuda/dropout.h"

#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/places.h"
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

// Of element `i`, or of it and the three behind it.
__device__ float Drop(uint32_t key, float rate, float factor, int64_t i, float x) {
  constexpr float kUnit = 1.0f / 16777216.0f;  // Of 24 bits, all that a float has.
  const uint32_t drawn = Mix(static_cast<uint32_t>(i) ^ key) >> 8;
  return static_cast<float>(drawn) * kUnit >= rate ? factor * x : 0.0f;
}
__device__ float4 Drop(uint32_t key, float rate, float factor, int64_t i, float4 x) {
  return make_float4(Drop(key, rate, factor, i, x.x), Drop(key, rate, factor, i + 1, x.y),
                     Drop(key, rate, factor, i + 2, x.z), Drop(key, rate, factor, i + 3, x.w));
}

}  // namespace

extern "C" __global__ void DropoutKernel(const DropoutParams p) {
  SeededNumbers of_step{p.layer ^ (static_cast<uint64_t>(p.block->step) * kGolden)};
  const auto key = static_cast<uint32_t>(of_step.Next());
  const float factor = 1.0f / (1.0f - p.rate);
  ForPlaces(p.count, p.by_fours, [&](auto place) {
    place.Store(p.y, Drop(key, p.rate, factor, place.i, place.Load(p.x)));
  });
}
