// Products of matrices, by cuBLASLt; with a bias, or a bias's gradient, in the same call where the
// device can, else with the kernel of a bias or of a sum behind it. Which of both a kernel knows
// when it is made.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h.

#ifndef TRAINER_KERNELS_CUDA_PRODUCT_OPS_H_
#define TRAINER_KERNELS_CUDA_PRODUCT_OPS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {

struct ProductOptions {
  bool epilogues = true;  // Where the device can.
};

// MatMul, MatMulBias, MatMulBiasGrad.
void AddProductKernels(KernelRegistry* kernels, const ProductOptions& options = {});

// Of the scratch memory of a product whose result is of [m, n].
size_t WorkspaceBytesFor(int64_t m, int64_t n);

// Also of nothing: a sum of no products is 0, and added changes nothing. Such results are dense and
// lie one behind the other.
absl::Status Multiply(const KernelCall& call, const Product& product);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_PRODUCT_OPS_H_
