// Convolutions of factors rounded to bfloat16 with sums in float32 (bfloat16.h says how), of images
// in NHWC order and weights in HWIO order.
//
// No matrix of windows is made. An image is rounded once, with its padding around it; then the
// pixels of a window's row lie side by side, and the windows of neighbouring outputs one stride
// apart, which is all that a tile asks of its left factor. The gradient of the inputs is a
// convolution of dy with the window turned around. The gradient of the weights sums over pixels, so
// its pairs are of two neighbouring outputs.
//
// Each number of a result is one sum in one order: the bits are the same for any number of threads.
//
// Ownership: none; results and scratch memory overlap no input. Threads: any. Errors: none. Needs
// HasBFloat16().
//
//   const BFloat16Convolution conv{.images = 100, .in = 32, .out = 64, .window = window};
//   std::vector<std::byte> scratch(ConvolveScratch(conv, threads));
//   Convolve(conv, x, w, y, scratch.data(), threads);

#ifndef TRAINER_KERNELS_CPU_BFLOAT16_CONV_H_
#define TRAINER_KERNELS_CPU_BFLOAT16_CONV_H_

#include <cstddef>
#include <cstdint>

#include "trainer/graph/window.h"

namespace taas {

struct BFloat16Convolution {
  int64_t images = 0;
  int64_t in = 0;   // Channels of x.
  int64_t out = 0;  // Channels of y.
  Window window;
};

size_t ConvolveScratch(const BFloat16Convolution& conv, int threads);
void Convolve(const BFloat16Convolution& conv, const float* x, const float* w, float* y,
              void* scratch, int threads);

// Whether ConvolveInputGrad takes it: with larger strides most of what it would multiply is zero.
bool HasInputGrad(const BFloat16Convolution& conv);
size_t InputGradScratch(const BFloat16Convolution& conv, int threads);
void ConvolveInputGrad(const BFloat16Convolution& conv, const float* dy, const float* w, float* dx,
                       void* scratch, int threads);

// Whether ConvolveWeightsGrad takes it: with windows smaller than the strides it would put more
// pixels in order than it multiplies.
bool HasWeightsGrad(const BFloat16Convolution& conv);
size_t WeightsGradScratch(const BFloat16Convolution& conv, int threads);
void ConvolveWeightsGrad(const BFloat16Convolution& conv, const float* x, const float* dy,
                         float* dw, void* scratch, int threads);

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_BFLOAT16_CONV_H_
