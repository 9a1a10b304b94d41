// Products of matrices inside a kernel, in the precision that the kernel was made for.
//
// Ownership: none. Threads: any. Errors: those of gemm.h.
//
//   const ProductMaker products(spec);
//   … {.run = … products.Run(shape, a, b, y, call.scratch) …,
//      .scratch_bytes = products.ScratchBytes(shape), .products = products.precision()};

#ifndef TRAINER_KERNELS_CPU_PRODUCT_H_
#define TRAINER_KERNELS_CPU_PRODUCT_H_

#include <cstddef>

#include "absl/status/status.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/kernels/cpu/bfloat16.h"
#include "trainer/kernels/cpu/bfloat16_gemm.h"
#include "trainer/kernels/cpu/gemm.h"

namespace taas {

// Whether a kernel is to round the factors of its products.
inline bool RoundsProducts(const KernelSpec& spec) {
  return spec.products == Precision::kBFloat16 && HasBFloat16();
}

class ProductMaker {
 public:
  explicit ProductMaker(const KernelSpec& spec)
      : rounds_(RoundsProducts(spec)), deterministic_(spec.deterministic) {}

  Precision precision() const {
    return rounds_ ? Precision::kBFloat16 : Precision::kFloat32;
  }
  size_t ScratchBytes(const GemmShape& shape) const {
    return rounds_ ? BFloat16GemmScratch(shape) : 0;
  }
  // The shape's `deterministic` is the kernel's.
  absl::Status Run(GemmShape shape, const float* a, const float* b, float* out,
                   void* scratch) const {
    shape.deterministic = deterministic_;
    if (!rounds_) return Gemm(shape, a, b, out);
    BFloat16Gemm(shape, a, b, out, scratch);
    return absl::OkStatus();
  }

 private:
  bool rounds_;
  bool deterministic_;
};

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_PRODUCT_H_
