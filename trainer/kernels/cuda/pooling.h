// Maxima and means of the windows of images, and their gradients.

#ifndef TRAINER_KERNELS_CUDA_POOLING_H_
#define TRAINER_KERNELS_CUDA_POOLING_H_

#include <cstdint>

namespace taas::cuda {

// Images in NHWC order, and the windows over them.
struct PoolWindows {
  int64_t images = 0;
  int channels = 0;
  // Of height and width.
  int in[2] = {};
  int out[2] = {};
  int kernel[2] = {};
  int stride[2] = {};
  int before[2] = {};  // Padding, which counts in no maximum and in no mean.
  bool by_fours = false;  // Channels are fours, and memory allows it (places.h).
};

// y = the maximum, or the mean, of each window of x.
struct PoolParams {
  const float* x;
  float* y;
  PoolWindows windows;
};

// dx = what of dy goes to each element: of a maximum to the first of a window that is it, bit for
// bit, and after a Relu only to what is above 0. x and y are not read for means.
struct PoolGradParams {
  const float* dy;
  const float* x;
  const float* y;
  float* dx;
  PoolWindows windows;
  bool after_relu;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_POOLING_H_
