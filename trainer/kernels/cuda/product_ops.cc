#include "trainer/kernels/cuda/product_ops.h"

#include <algorithm>

#include "trainer/graph/rows.h"

namespace taas::cuda {
namespace {

// What NVIDIA recommends for Hopper, but for small results no more than the partial sums of a
// product that is split in sixteen along k.
constexpr int64_t kWorkspaceBytesMax = 32 << 20, kSplitsMax = 16;

absl::StatusOr<Kernel> MatMul(const KernelSpec& spec) {
  const Rows a = RowsOf(spec.inputs[0].shape);
  Product product{.transpose_a = spec.attributes.Bool("transpose_a"),
                  .transpose_b = spec.attributes.Bool("transpose_b"),
                  .precision = spec.products};
  product.n = RowsOf(spec.outputs[0].shape).columns;
  product.m = product.transpose_a ? a.columns : a.rows;
  product.k = product.transpose_a ? a.rows : a.columns;
  product.workspace_bytes = WorkspaceBytesFor(product.m, product.n);
  return Kernel{.run =
                    [product](const KernelCall& call) {
                      Product now = product;
                      now.a = call.in(0);
                      now.b = call.in(1);
                      now.c = call.out();
                      now.workspace = call.scratch;
                      return Multiply(call, now);
                    },
                .scratch_bytes = product.workspace_bytes,
                .products = spec.products};
}

}  // namespace

size_t WorkspaceBytesFor(int64_t m, int64_t n) {
  return static_cast<size_t>(std::min(
      kWorkspaceBytesMax, kSplitsMax * m * n * static_cast<int64_t>(sizeof(float))));
}

absl::Status Multiply(const KernelCall& call, const Product& product) {
  const int64_t results = product.m * product.n * product.batch;
  if (results == 0 || (product.k == 0 && product.adds)) return absl::OkStatus();
  if (product.k > 0) return StreamOf(call).Multiply(product);
  return StreamOf(call).Zero(product.c, static_cast<size_t>(results) * sizeof(float));
}

void AddProductKernels(KernelRegistry* kernels) {
  kernels->Add("MatMul", kGpu, DType::kFloat32, MatMul);
}

}  // namespace taas::cuda
