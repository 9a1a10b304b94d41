// Products of many left factors with one right factor, which is put in order once: those of an
// LSTM's steps.
//
// Ownership: a product owns its primitives; memory is the caller's. Threads: one at a time, each
// call with as many threads as it says. Errors: what oneDNN throws while one is made is the
// caller's to catch (MakeDnnl).
//
//   const auto product = MakeRepeatedProduct({.rows = 64, .inner = 512, .columns = 2048}, rounds);
//   RETURN_IF_ERROR(product->Prepare(weights, scratch, threads));
//   RETURN_IF_ERROR(product->Run(h, gates, threads));   // As often as there are steps.

#ifndef TRAINER_KERNELS_CPU_REPEATED_PRODUCT_H_
#define TRAINER_KERNELS_CPU_REPEATED_PRODUCT_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"

namespace taas {

// out[rows, columns] (+)= in[rows, inner] · weights.
struct RepeatedShape {
  int64_t rows = 0;
  int64_t inner = 0;
  int64_t columns = 0;
  bool transposed = false;  // weights is stored [columns, inner].
  bool adds = false;
};

class RepeatedProduct {
 public:
  virtual ~RepeatedProduct() = default;
  // Of scratch memory, which must stay as Prepare left it until the last Run.
  virtual size_t bytes() const = 0;
  virtual absl::Status Prepare(const float* weights, void* scratch, int threads) = 0;
  virtual absl::Status Run(const float* in, float* out, int threads) = 0;
};

// `rounds`: the factors are rounded to bfloat16, as bfloat16_gemm.h does.
std::unique_ptr<RepeatedProduct> MakeRepeatedProduct(const RepeatedShape& shape, bool rounds);

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_REPEATED_PRODUCT_H_
