// y = scale · x + offset of bytes. Bound by memory: 5 bytes per pixel. A product is rounded before
// the sum, as on the processor, so that models see the same images there and here.
//
// Plain: four pixels a thread, in blocks of 256 (places.h). With augmentation a block has an image,
// or a part of a large one: its first thread draws the image's move, which takes hundreds of
// instructions, for all; then a thread takes each 256th float of the part. What is read lies side
// by side, too, in one direction or the other.

#include "trainer/kernels/cuda/pixels.h"

#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/places.h"
#include "trainer/kernels/cuda/random_bits.h"

using namespace taas::cuda;

namespace {

__device__ float4 LoadPixels(Place<float4> place, const uint8_t* x) {
  const uchar4 four = *reinterpret_cast<const uchar4*>(x + place.i);
  return make_float4(static_cast<float>(four.x), static_cast<float>(four.y),
                     static_cast<float>(four.z), static_cast<float>(four.w));
}
__device__ float LoadPixels(Place<float> place, const uint8_t* x) {
  return static_cast<float>(x[place.i]);
}

// Without the compiler's fused multiplication and addition.
__device__ float Decode(float pixel, float scale, float offset) {
  return __fadd_rn(__fmul_rn(scale, pixel), offset);
}

}  // namespace

extern "C" __global__ void AugmentPixelsKernel(const AugmentPixelsParams p) {
  __shared__ int64_t drawn[3];
  const int64_t image = blockIdx.x;
  if (threadIdx.x == 0) {
    SeededNumbers numbers{static_cast<uint64_t>(p.seeds[image])};
    const uint64_t places = 2 * static_cast<uint64_t>(p.padding) + 1;
    drawn[0] = static_cast<int64_t>(numbers.Below(places)) - p.padding;
    drawn[1] = static_cast<int64_t>(numbers.Below(places)) - p.padding;
    // Drawn also where nothing is mirrored; one option does not change another.
    drawn[2] = numbers.Below(2) == 1 && p.flips ? 1 : 0;
  }
  __syncthreads();
  const int64_t down = drawn[0], right = drawn[1];
  const bool mirrored = drawn[2] != 0;
  const int64_t row = p.width * p.channels, pixels = p.height * row;
  const uint8_t* const x = p.x + image * pixels;
  float* const y = p.y + image * pixels;
  const int64_t step = int64_t{gridDim.y} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.y} * blockDim.x + threadIdx.x; i < pixels; i += step) {
    const int64_t line = i / row, in_line = i - line * row;
    const int64_t column = in_line / p.channels, channel = in_line - column * p.channels;
    const int64_t from_line = line + down;
    const int64_t from_column = (mirrored ? p.width - 1 - column : column) + right;
    const bool inside = from_line >= 0 && from_line < p.height && from_column >= 0 &&
                        from_column < p.width;  // Else it is the margin.
    const int64_t from = from_line * row + from_column * p.channels + channel;
    y[i] = Decode(inside ? static_cast<float>(x[from]) : 0.0f, p.scale, p.offset);
  }
}

extern "C" __global__ void DecodePixelsKernel(const DecodePixelsParams p) {
  ForPlaces(p.count, p.by_fours, [&](auto place) {
    place.Store(p.y, Each([&](float pixel) { return Decode(pixel, p.scale, p.offset); },
                          LoadPixels(place, p.x)));
  });
}
