// Kernels as the driver takes them: a fatbin of one .cu file, with machine code and PTX.
//
// Ownership: borrows the bytes. Threads: any. Errors: none.

#ifndef TRAINER_KERNELS_CUDA_KERNEL_IMAGE_H_
#define TRAINER_KERNELS_CUDA_KERNEL_IMAGE_H_

#include <cstddef>
#include <span>
#include <string_view>

namespace taas::cuda {

struct KernelImage {
  std::string_view file;              // "elementwise.cu"
  std::span<const std::byte> fatbin;  // At a multiple of 16 bytes.
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_KERNEL_IMAGE_H_
