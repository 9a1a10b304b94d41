// bfloat16 is the upper half of a float. Four elements a thread, in blocks of 256 (places.h). Bound
// by memory: 6 bytes per element either way. Several arrays in one launch, one in each row of the
// grid: a small one does not wait for a large one, and rows that are longer than their array end
// at once.

#include "trainer/kernels/cuda/bfloat16.h"

#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/places.h"

using namespace taas::cuda;

namespace {

__device__ unsigned Rounded(float x) {
  const unsigned bits = __float_as_uint(x);
  if (x != x) return 0x7fffu;  // To add to its bits might make a number of NaN.
  return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}

__device__ void Narrow(Place<float> place, const float* from, uint16_t* to) {
  to[place.i] = static_cast<uint16_t>(Rounded(from[place.i]));
}

__device__ void Narrow(Place<float4> place, const float* from, uint16_t* to) {
  const float4 x = place.Load(from);
  *reinterpret_cast<uint2*>(to + place.i) =
      uint2{Rounded(x.x) | Rounded(x.y) << 16, Rounded(x.z) | Rounded(x.w) << 16};
}

__device__ void Widen(Place<float> place, const uint16_t* from, float* to) {
  *reinterpret_cast<unsigned*>(to + place.i) = unsigned{from[place.i]} << 16;
}

__device__ void Widen(Place<float4> place, const uint16_t* from, float* to) {
  const uint2 pairs = *reinterpret_cast<const uint2*>(from + place.i);
  *reinterpret_cast<uint4*>(to + place.i) = uint4{pairs.x << 16, pairs.x & 0xffff0000u,
                                                  pairs.y << 16, pairs.y & 0xffff0000u};
}

}  // namespace

extern "C" __global__ void NarrowKernel(const NarrowParams p) {
  // By a number that only the device knows the compiler would copy all of them to the stack.
  static_assert(NarrowParams::kArraysMax == 3);
  const NarrowParams::Array array = blockIdx.y == 0   ? p.arrays[0]
                                    : blockIdx.y == 1 ? p.arrays[1]
                                                      : p.arrays[2];
  ForPlaces(array.count, p.by_fours, [&](auto place) { Narrow(place, array.from, array.to); });
}

extern "C" __global__ void WidenKernel(const WidenParams p) {
  ForPlaces(p.count, p.by_fours, [&](auto place) { Widen(place, p.from, p.to); });
}
