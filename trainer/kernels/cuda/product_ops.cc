#include "trainer/kernels/cuda/product_ops.h"

#include <algorithm>
#include <optional>

#include "operator/base/status.h"
#include "trainer/graph/rows.h"
#include "trainer/kernels/cuda/by_fours.h"
#include "trainer/kernels/cuda/gpu_device.h"
#include "trainer/kernels/cuda/sums_ops.h"

namespace taas::cuda {
namespace {

// What NVIDIA recommends for Hopper, but for small results no more than the partial sums of a
// product that is split in sixteen along k.
constexpr int64_t kWorkspaceBytesMax = 32 << 20, kSplitsMax = 16;

Product ProductOf(const KernelSpec& spec, bool transpose_a, bool transpose_b) {
  const Rows a = RowsOf(spec.inputs[0].shape);
  Product product{.transpose_a = transpose_a,
                  .transpose_b = transpose_b,
                  .precision = spec.products};
  product.n = RowsOf(spec.outputs[0].shape).columns;
  product.m = product.transpose_a ? a.columns : a.rows;
  product.k = product.transpose_a ? a.rows : a.columns;
  product.workspace_bytes = WorkspaceBytesFor(product.m, product.n);
  return product;
}

Product ProductOf(const KernelSpec& spec) {
  return ProductOf(spec, spec.attributes.Bool("transpose_a"), spec.attributes.Bool("transpose_b"));
}

// The first two inputs, and the first output.
Product Now(Product product, const KernelCall& call) {
  product.a = call.in(0);
  product.b = call.in(1);
  product.c = call.out();
  product.workspace = call.scratch;
  return product;
}

absl::StatusOr<Kernel> MatMul(const KernelSpec& spec) {
  const Product product = ProductOf(spec);
  return Kernel{.run = [product](const KernelCall& call) {
                  return Multiply(call, Now(product, call));
                },
                .scratch_bytes = product.workspace_bytes,
                .products = spec.products};
}

// The product with its epilogue. One of nothing has none; that which is emulated has all.
std::optional<Product> InOneCall(const KernelSpec& spec, const ProductOptions& options,
                                 Product product, Epilogue epilogue) {
  if (!options.epilogues || product.m * product.n * product.k == 0) return std::nullopt;
  product.epilogue = epilogue;
  if (spec.device == nullptr) return product;
  if (!static_cast<GpuDevice*>(spec.device)->CanMultiply(product)) return std::nullopt;
  return product;
}

// Of which the vector is input 2 or output 1.
Kernel KernelOf(const Product& product) {
  const bool reads = product.epilogue == Epilogue::kBias;
  return {.run =
              [product, reads](const KernelCall& call) {
                Product now = Now(product, call);
                now.vector = reads ? const_cast<float*>(call.in(2)) : call.out(1);
                return StreamOf(call).Multiply(now);
              },
          .scratch_bytes = product.workspace_bytes,
          .products = product.precision};
}

absl::StatusOr<Kernel> MatMulBias(const KernelSpec& spec, const ProductOptions& options) {
  const Product product = ProductOf(spec);
  if (const auto whole = InOneCall(spec, options, product, Epilogue::kBias)) {
    return KernelOf(*whole);
  }
  return Kernel{.run = [product](const KernelCall& call) -> absl::Status {
                  RETURN_IF_ERROR(Multiply(call, Now(product, call)));
                  const int64_t count = product.m * product.n;
                  return Launch(call, kBiasAddKernel, ForElements(count, 4),
                                {.x = call.out(),
                                 .b = call.in(2),
                                 .y = call.out(),
                                 .count = count,
                                 .columns = product.n,
                                 .by_fours = product.n % 4 == 0 &&
                                             ByFours({call.in(2), call.out()})});
                },
                .scratch_bytes = product.workspace_bytes,
                .products = spec.products};
}

absl::StatusOr<Kernel> MatMulBiasGrad(const KernelSpec& spec, const ProductOptions& options) {
  Product product = ProductOf(spec, /*transpose_a=*/true, /*transpose_b=*/false);
  // Rows of no element have a sum all the same.
  product.k = RowsOf(spec.inputs[1].shape).rows;
  if (const auto whole = InOneCall(spec, options, product, Epilogue::kBiasGrad)) {
    return KernelOf(*whole);
  }
  const size_t sums = Aligned(product.workspace_bytes);
  return Kernel{
      .run = [product, sums](const KernelCall& call) -> absl::Status {
        RETURN_IF_ERROR(Multiply(call, Now(product, call)));
        return LaunchColumnSums(call, {.rows = product.k,
                                       .columns = product.n,
                                       .x = call.in(1),
                                       .y = call.out(1),
                                       .scratch = static_cast<std::byte*>(call.scratch) + sums});
      },
      .scratch_bytes = sums + ColumnSumsScratchBytes(product.k, product.n),
      .products = spec.products};
}

KernelFactory With(const ProductOptions& options,
                   absl::StatusOr<Kernel> (*make)(const KernelSpec&, const ProductOptions&)) {
  return [options, make](const KernelSpec& spec) { return make(spec, options); };
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

void AddProductKernels(KernelRegistry* kernels, const ProductOptions& options) {
  kernels->Add("MatMul", kGpu, DType::kFloat32, MatMul);
  kernels->Add("MatMulBias", kGpu, DType::kFloat32, With(options, MatMulBias));
  kernels->Add("MatMulBiasGrad", kGpu, DType::kFloat32, With(options, MatMulBiasGrad));
}

}  // namespace taas::cuda
