#include "trainer/kernels/cpu/gemm.h"

#include <omp.h>

#include <string>

#include "oneapi/dnnl/dnnl.h"

namespace taas {

absl::Status Gemm(const GemmShape& shape, const float* a, const float* b, float* out) {
  const int64_t m = shape.m, n = shape.n, k = shape.k;
  const bool transpose_a = shape.transpose_a, transpose_b = shape.transpose_b;
  const int threads = shape.threads;
  const auto stride = [](int64_t given, int64_t packed) { return given > 0 ? given : packed; };
  const int64_t out_stride = stride(shape.out_stride, n);
  if (m == 0 || n == 0) return absl::OkStatus();
  if (k == 0) {
    for (int64_t row = 0; row < m; ++row) {
      float* const to = out + row * out_stride;
      for (int64_t i = 0; i < n; ++i) to[i] = shape.beta == 0 ? 0.0f : shape.beta * to[i];
    }
    return absl::OkStatus();
  }
  if (omp_get_max_threads() != threads) omp_set_num_threads(threads);
  const dnnl_status_t status =
      dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, shape.alpha, a,
                 stride(shape.a_stride, transpose_a ? m : k), b,
                 stride(shape.b_stride, transpose_b ? k : n), shape.beta, out, out_stride);
  if (status == dnnl_success) return absl::OkStatus();
  return absl::InternalError("multiply matrices of " + std::to_string(m) + "x" +
                             std::to_string(k) + " and " + std::to_string(k) + "x" +
                             std::to_string(n) + ": oneDNN returned status " +
                             std::to_string(static_cast<int>(status)));
}

}  // namespace taas
