#include "trainer/kernels/cpu/gemm.h"

#include <omp.h>

#include <algorithm>
#include <string>

#include "oneapi/dnnl/dnnl.h"

namespace taas {

absl::Status Gemm(const GemmShape& shape, const float* a, const float* b, float* out) {
  const auto [m, n, k, transpose_a, transpose_b, threads] = shape;
  if (m == 0 || n == 0) return absl::OkStatus();
  if (k == 0) {
    std::fill_n(out, m * n, 0.0f);
    return absl::OkStatus();
  }
  if (omp_get_max_threads() != threads) omp_set_num_threads(threads);
  const dnnl_status_t status =
      dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.0f, a,
                 transpose_a ? m : k, b, transpose_b ? k : n, 0.0f, out, n);
  if (status == dnnl_success) return absl::OkStatus();
  return absl::InternalError("multiply matrices of " + std::to_string(m) + "x" +
                             std::to_string(k) + " and " + std::to_string(k) + "x" +
                             std::to_string(n) + ": oneDNN returned status " +
                             std::to_string(static_cast<int>(status)));
}

}  // namespace taas
