#include "trainer/kernels/cuda/product_ops.h"

#include <algorithm>

#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {
namespace {

// What NVIDIA recommends for Hopper, but for small results no more than the partial sums of a
// product that is split in sixteen along k.
constexpr int64_t kWorkspaceBytesMax = 32 << 20, kSplitsMax = 16;

absl::StatusOr<Kernel> MatMul(const KernelSpec& spec) {
  const Shape& a = spec.inputs[0].shape;
  Product product{.transpose_a = spec.attributes.Bool("transpose_a"),
                  .transpose_b = spec.attributes.Bool("transpose_b"),
                  .precision = spec.products};
  const int64_t columns = a.dim(a.rank() - 1);
  const int64_t rows = columns == 0 ? 0 : a.count() / columns;
  const Shape& c = spec.outputs[0].shape;
  product.n = c.dim(c.rank() - 1);
  product.m = product.transpose_a ? columns : rows;
  product.k = product.transpose_a ? rows : columns;
  product.workspace_bytes = static_cast<size_t>(std::min(
      kWorkspaceBytesMax,
      kSplitsMax * product.m * product.n * static_cast<int64_t>(sizeof(float))));
  return Kernel{.run =
                    [product](const KernelCall& call) -> absl::Status {
                      if (product.m == 0 || product.n == 0) return absl::OkStatus();
                      if (product.k == 0) {
                        return StreamOf(call).Zero(
                            call.out(), static_cast<size_t>(product.m * product.n) * sizeof(float));
                      }
                      Product now = product;
                      now.a = call.in(0);
                      now.b = call.in(1);
                      now.c = call.out();
                      now.workspace = call.scratch;
                      return StreamOf(call).Multiply(now);
                    },
                .scratch_bytes = product.workspace_bytes,
                .products = spec.products};
}

}  // namespace

void AddProductKernels(KernelRegistry* kernels) {
  kernels->Add("MatMul", kGpu, DType::kFloat32, MatMul);
}

}  // namespace taas::cuda
