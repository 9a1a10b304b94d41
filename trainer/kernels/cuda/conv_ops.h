// Convolutions: by a plan of the device (planned_conv.h), else as products of matrices, patches of
// some images at a time (patches.h), by cuBLASLt. One whose images are their own patches is a
// product in any case.
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

struct ConvOptions {
  int64_t patches_bytes_max = kPatchesBytesMax;
  bool planned = true;  // Where the device has a plan; else all are products.
};

// Conv2D, Conv2DInputGrad, Conv2DWeightsGrad.
void AddConvKernels(KernelRegistry* kernels, const ConvOptions& options = {});

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_CONV_OPS_H_
