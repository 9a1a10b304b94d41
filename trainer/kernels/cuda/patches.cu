// patches[n, y, x, i, j, c] = images[n, y * stride - top + i, x * stride - left + j, c], and back:
// the gradient of an image's element is the sum over all patches in which it lies, in the order of
// i and j, so that its bits do not depend on threads.
//
// One thread per element of the result; the channels of a place lie side by side, so neighbours
// read neighbours. Each element of a patch is written once and read from a cache: 4 bytes of memory
// per element, and 4 / (kernel height * kernel width) that are read. The host cuts a batch so that
// patches stay in the cache of the GPU between this and the product.

#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/patches.h"

using namespace taas::cuda;

extern "C" __global__ void PatchesKernel(const PatchesParams p) {
  const uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= p.count) return;  // The last block is partly idle.
  const uint32_t c = at % p.channels;
  uint32_t rest = at / p.channels;
  const uint32_t j = rest % p.kernel_width;
  rest /= p.kernel_width;
  const uint32_t i = rest % p.kernel_height;
  rest /= p.kernel_height;
  const uint32_t out_x = rest % p.out_width;
  rest /= p.out_width;
  // Beside the image these wrap around, to more than there is.
  const uint32_t y = rest % p.out_height * p.stride_y + i - p.top;
  const uint32_t x = out_x * p.stride_x + j - p.left;
  const uint32_t n = rest / p.out_height;
  float value = 0;
  if (y < p.height && x < p.width) {
    value = p.from[((int64_t{n} * p.height + y) * p.width + x) * p.channels + c];
  }
  p.to[at] = value;
}

extern "C" __global__ void PatchSumsKernel(const PatchesParams p) {
  const uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= p.count) return;  // The last block is partly idle.
  const uint32_t c = at % p.channels;
  uint32_t rest = at / p.channels;
  const uint32_t x = rest % p.width + p.left;
  rest /= p.width;
  const uint32_t y = rest % p.height + p.top;
  const uint32_t n = rest / p.height;
  float sum = 0;
  for (uint32_t i = 0; i < p.kernel_height && i <= y; ++i) {
    const uint32_t out_y = (y - i) / p.stride_y;
    if ((y - i) % p.stride_y != 0 || out_y >= p.out_height) continue;
    for (uint32_t j = 0; j < p.kernel_width && j <= x; ++j) {
      const uint32_t out_x = (x - j) / p.stride_x;
      if ((x - j) % p.stride_x != 0 || out_x >= p.out_width) continue;
      const int64_t patch = (int64_t{n} * p.out_height + out_y) * p.out_width + out_x;
      sum += p.from[((patch * p.kernel_height + i) * p.kernel_width + j) * p.channels + c];
    }
  }
  p.to[at] = sum;
}
