// The product of two matrices, stored by rows: out = alpha · a' b' + beta · out, where ' transposes
// if asked to.
//
// The work is done by oneDNN. Its threads are those of OpenMP; the count given holds for this call.
// With more than one it may split the dimension that is summed over, and then the bits depend on
// the count. `deterministic` splits the result instead, into parts that follow from its size alone,
// each computed by one thread: the bits are the same for any count.
//
// Ownership: none; `out` overlaps no input. Threads: any. Errors: Internal when the library
// refuses.
//
//   RETURN_IF_ERROR(Gemm({.m = 100, .n = 500, .k = 784}, x, w, y));

#ifndef TRAINER_KERNELS_CPU_GEMM_H_
#define TRAINER_KERNELS_CPU_GEMM_H_

#include <cstdint>

#include "absl/status/status.h"

namespace taas {

struct GemmShape {
  int64_t m = 0;  // Rows of out.
  int64_t n = 0;  // Columns of out.
  int64_t k = 0;  // The dimension that is summed over.
  bool transpose_a = false;  // a is stored [k, m] and not [m, k].
  bool transpose_b = false;  // b is stored [n, k] and not [k, n].
  int threads = 1;
  bool deterministic = false;
  float alpha = 1;
  float beta = 0;
  // Elements from one stored row to the next; 0: rows lie side by side.
  int64_t a_stride = 0;
  int64_t b_stride = 0;
  int64_t out_stride = 0;
};

absl::Status Gemm(const GemmShape& shape, const float* a, const float* b, float* out);

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_GEMM_H_
