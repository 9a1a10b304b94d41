#include "trainer/kernels/cpu/gemm.h"

#include <algorithm>
#include <atomic>
#include <string>

#include "oneapi/dnnl/dnnl.h"
#include "third_party/openmp.h"
#include "trainer/loops/parallel.h"

namespace taas {
namespace {

// Of a deterministic product: a part of this many rows or columns is worth a thread, and copies
// little beside what it computes.
constexpr int64_t kPart = 128;

// Of a product with a transposed left side: the terms that are summed in one call. oneDNN 2.6 reads
// such a side down its columns, which in a long one with rows of a power of two, or a few of them,
// all lie in the same places of the first cache. 1,536 x 384 results of 2,048 terms each are a
// quarter faster in such parts, others as fast or a few percent faster.
constexpr int64_t kDepth = 256;

// Rows [m0, m0 + m) and columns [n0, n0 + n) of the product.
struct Part {
  int64_t m0 = 0;
  int64_t m = 0;
  int64_t n0 = 0;
  int64_t n = 0;
};

// From one stored row to the next.
struct Strides {
  int64_t a, b, out;
};

Strides StridesOf(const GemmShape& s) {
  const auto stride = [](int64_t given, int64_t packed) { return given > 0 ? given : packed; };
  return {.a = stride(s.a_stride, s.transpose_a ? s.m : s.k),
          .b = stride(s.b_stride, s.transpose_b ? s.k : s.n),
          .out = stride(s.out_stride, s.n)};
}

dnnl_status_t Multiply(const GemmShape& s, const Part& part, const float* a, const float* b,
                       float* out) {
  const Strides stride = StridesOf(s);
  const float* const from_a = a + (s.transpose_a ? part.m0 : part.m0 * stride.a);
  const float* const from_b = b + (s.transpose_b ? part.n0 * stride.b : part.n0);
  float* const to = out + part.m0 * stride.out + part.n0;
  const int64_t depth = s.transpose_a && s.k >= 2 * kDepth ? kDepth : s.k;
  for (int64_t k0 = 0; k0 < s.k; k0 += depth) {
    const dnnl_status_t status = dnnl_sgemm(
        s.transpose_a ? 'T' : 'N', s.transpose_b ? 'T' : 'N', part.m, part.n,
        std::min(depth, s.k - k0), s.alpha, from_a + k0 * (s.transpose_a ? stride.a : 1), stride.a,
        from_b + k0 * (s.transpose_b ? 1 : stride.b), stride.b, k0 == 0 ? s.beta : 1.0f, to,
        stride.out);
    if (status != dnnl_success) return status;
  }
  return dnnl_success;
}

// Along the longer side of the result.
dnnl_status_t MultiplyParts(const GemmShape& s, const float* a, const float* b, float* out) {
  const bool rows = s.m >= s.n;
  const int64_t length = rows ? s.m : s.n;
  const int64_t parts = (length + kPart - 1) / kPart;
  std::atomic<dnnl_status_t> outcome = dnnl_success;
  ParallelFor(s.threads, parts, [&](int64_t i) {
    const int64_t begin = i * kPart;
    const int64_t here = std::min(kPart, length - begin);
    const Part part = rows ? Part{begin, here, 0, s.n} : Part{0, s.m, begin, here};
    const dnnl_status_t status = Multiply(s, part, a, b, out);
    if (status != dnnl_success) outcome = status;
  });
  return outcome;
}

}  // namespace

absl::Status Gemm(const GemmShape& shape, const float* a, const float* b, float* out) {
  const int64_t m = shape.m, n = shape.n, k = shape.k;
  if (m == 0 || n == 0) return absl::OkStatus();
  if (k == 0) {
    for (int64_t row = 0; row < m; ++row) {
      float* const to = out + row * StridesOf(shape).out;
      for (int64_t i = 0; i < n; ++i) to[i] = shape.beta == 0 ? 0.0f : shape.beta * to[i];
    }
    return absl::OkStatus();
  }
  // The parts are as many as there are, whatever the threads; each is oneDNN's own business.
  const int for_library = shape.deterministic ? 1 : shape.threads;
  if (omp_get_max_threads() != for_library) omp_set_num_threads(for_library);
  const dnnl_status_t status = shape.deterministic ? MultiplyParts(shape, a, b, out)
                                             : Multiply(shape, {0, m, 0, n}, a, b, out);
  if (status == dnnl_success) return absl::OkStatus();
  return absl::InternalError("multiply matrices of " + std::to_string(m) + "x" +
                             std::to_string(k) + " and " + std::to_string(k) + "x" +
                             std::to_string(n) + ": oneDNN returned status " +
                             std::to_string(static_cast<int>(status)));
}

}  // namespace taas
