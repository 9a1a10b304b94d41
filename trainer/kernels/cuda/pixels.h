// What the kernels take that make floats of pixels.

#ifndef TRAINER_KERNELS_CUDA_PIXELS_H_
#define TRAINER_KERNELS_CUDA_PIXELS_H_

#include <cstdint>

namespace taas::cuda {

// y[i] = scale * x[i] + offset.
struct DecodePixelsParams {
  const uint8_t* x;
  float* y;
  int64_t count;
  float scale;
  float offset;
  bool by_fours;  // x is a multiple of 4 bytes, y of 16.
};

// The same of images[height, width, channels] as AugmentImage (trainer/data/augment.h) of their
// seeds changes them.
struct AugmentPixelsParams {
  const uint8_t* x;
  const int64_t* seeds;
  float* y;
  int64_t height;
  int64_t width;
  int64_t channels;
  int64_t padding;  // Pixels of zeros around the image out of which it is cut.
  bool flips;
  float scale;
  float offset;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_PIXELS_H_
