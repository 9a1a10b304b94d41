// Convolutions as products of matrices: patches of some images at a time (patches.h), by cuBLASLt.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h.

#ifndef TRAINER_KERNELS_CUDA_CONV_OPS_H_
#define TRAINER_KERNELS_CUDA_CONV_OPS_H_

#include <cstdint>

#include "trainer/graph/kernel_registry.h"

namespace taas::cuda {

// Of the patches that are made at a time: they stay in the L2 cache of an A100 (40 MB) or an H100
// (50 MB) until the product has read them.
inline constexpr int64_t kPatchesBytesMax = 32 << 20;

// Conv2D, Conv2DInputGrad, Conv2DWeightsGrad.
void AddConvKernels(KernelRegistry* kernels, int64_t patches_bytes_max = kPatchesBytesMax);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_CONV_OPS_H_
