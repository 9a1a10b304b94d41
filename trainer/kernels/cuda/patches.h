// What a convolution's window covers, as rows of a matrix, so that a convolution is a product.

#ifndef TRAINER_KERNELS_CUDA_PATCHES_H_
#define TRAINER_KERNELS_CUDA_PATCHES_H_

#include <cstdint>

namespace taas::cuda {

// Images [n, height, width, channels] and patches [n, out_height, out_width, kernel_height,
// kernel_width, channels]; what lies beside an image is 0. `count` elements of the result, of which
// there are fewer than 2^31.
struct PatchesParams {
  const float* from;
  float* to;
  uint32_t count;
  uint32_t height, width, channels;
  uint32_t out_height, out_width;
  uint32_t kernel_height, kernel_width;
  uint32_t stride_y, stride_x;
  uint32_t top, left;  // Rows and columns of padding.
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_PATCHES_H_
