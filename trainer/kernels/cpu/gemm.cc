#include "trainer/kernels/cpu/gemm.h"

#include <omp.h>

#include <algorithm>
#include <string>

#include "oneapi/dnnl/dnnl.h"

namespace taas {
namespace {

// Of a deterministic product: a part of this many rows or columns is worth a thread, and copies
// little beside what it computes.
constexpr int64_t kPart = 128;

// Rows [m0, m0 + m) and columns [n0, n0 + n) of the product.
struct Part {
  int64_t m0 = 0;
  int64_t m = 0;
  int64_t n0 = 0;
  int64_t n = 0;
};

dnnl_status_t Multiply(const GemmShape& s, const Part& part, const float* a, const float* b,
                       float* out) {
  const float* const from_a = a + (s.transpose_a ? part.m0 : part.m0 * s.k);
  const float* const from_b = b + (s.transpose_b ? part.n0 * s.k : part.n0);
  return dnnl_sgemm(s.transpose_a ? 'T' : 'N', s.transpose_b ? 'T' : 'N', part.m, part.n, s.k,
                    1.0f, from_a, s.transpose_a ? s.m : s.k, from_b, s.transpose_b ? s.k : s.n,
                    0.0f, out + part.m0 * s.n + part.n0, s.n);
}

// Along the longer side of the result.
dnnl_status_t MultiplyParts(const GemmShape& s, const float* a, const float* b, float* out) {
  const bool rows = s.m >= s.n;
  const int64_t length = rows ? s.m : s.n;
  const int64_t parts = (length + kPart - 1) / kPart;
  int worst = dnnl_success;
#pragma omp parallel for num_threads(s.threads) schedule(static) reduction(max : worst)
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t begin = i * kPart;
    const int64_t here = std::min(kPart, length - begin);
    const Part part = rows ? Part{begin, here, 0, s.n} : Part{0, s.m, begin, here};
    worst = std::max(worst, static_cast<int>(Multiply(s, part, a, b, out)));
  }
  return static_cast<dnnl_status_t>(worst);
}

}  // namespace

absl::Status Gemm(const GemmShape& shape, const float* a, const float* b, float* out) {
  const auto [m, n, k, transpose_a, transpose_b, threads, deterministic] = shape;
  if (m == 0 || n == 0) return absl::OkStatus();
  if (k == 0) {
    std::fill_n(out, m * n, 0.0f);
    return absl::OkStatus();
  }
  // The parts are as many as there are, whatever the threads; each is oneDNN's own business.
  const int for_library = deterministic ? 1 : threads;
  if (omp_get_max_threads() != for_library) omp_set_num_threads(for_library);
  const dnnl_status_t status = deterministic ? MultiplyParts(shape, a, b, out)
                                             : Multiply(shape, {0, m, 0, n}, a, b, out);
  if (status == dnnl_success) return absl::OkStatus();
  return absl::InternalError("multiply matrices of " + std::to_string(m) + "x" +
                             std::to_string(k) + " and " + std::to_string(k) + "x" +
                             std::to_string(n) + ": oneDNN returned status " +
                             std::to_string(static_cast<int>(status)));
}

}  // namespace taas
