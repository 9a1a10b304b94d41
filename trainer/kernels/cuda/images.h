// The compiled kernels that this program carries: a fatbin of each .cu of this folder, with machine
// code for sm_80 and sm_90 and PTX for what comes after (compile_kernels.py).
//
// A kernel is found by its name in what the driver makes of an image
// (trainer/cuda/loaded_kernels.h).
//
// Ownership: of the program. Threads: any. Errors: none.
//
//   for (const KernelImage& image : KernelImages()) Load(image.file, image.fatbin);

#ifndef TRAINER_KERNELS_CUDA_IMAGES_H_
#define TRAINER_KERNELS_CUDA_IMAGES_H_

#include <span>

#include "trainer/kernels/cuda/kernel_image.h"

namespace taas::cuda {

// Sorted by file.
std::span<const KernelImage> KernelImages();

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_IMAGES_H_
