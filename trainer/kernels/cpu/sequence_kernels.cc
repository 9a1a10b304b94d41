#include "trainer/kernels/cpu/sequence_kernels.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "trainer/kernels/cpu/loops.h"
#include "trainer/kernels/cpu/parallel.h"
#include "trainer/kernels/cpu/rows.h"
#include "trainer/kernels/cpu/sequence_loops.h"

namespace taas {
namespace {

absl::StatusOr<Kernel> ToInt32(const KernelSpec& spec) {
  const int64_t n = spec.inputs[0].shape.count();
  return Kernel{.run = [n](const KernelCall& call) -> absl::Status {
    constexpr float kLargest = 16777216;  // Above, floats are not all whole numbers.
    for (int64_t i = 0; i < n; ++i) {
      const float x = call.in(0)[i];
      if (std::trunc(x) != x || std::abs(x) > kLargest) {
        return absl::InvalidArgumentError("element " + std::to_string(i) + " is " +
                                          std::to_string(x) + ", not a whole number");
      }
      call.out_int32()[i] = static_cast<int32_t>(x);
    }
    return absl::OkStatus();
  }};
}

absl::Status CheckIds(const int32_t* ids, int64_t count, int64_t rows) {
  for (int64_t i = 0; i < count; ++i) {
    if (ids[i] >= 0 && ids[i] < rows) continue;
    return absl::InvalidArgumentError("id " + std::to_string(ids[i]) + " at " + std::to_string(i) +
                                      " is out of range, the table has " + std::to_string(rows) +
                                      " rows");
  }
  return absl::OkStatus();
}

absl::StatusOr<Kernel> OneHot(const KernelSpec& spec) {
  const auto [count, size] = RowsOf(spec.outputs[0].shape);
  return Kernel{.run = [count = count, size = size](const KernelCall& call) -> absl::Status {
    const int32_t* const ids = call.in_int32(0);
    if (absl::Status status = CheckIds(ids, count, size); !status.ok()) return status;
    std::fill_n(call.out(), count * size, 0.0f);
    for (int64_t i = 0; i < count; ++i) call.out()[i * size + ids[i]] = 1;
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> Embedding(const KernelSpec& spec) {
  const auto [rows, width] = RowsOf(spec.inputs[0].shape);
  const int64_t count = spec.inputs[1].shape.count();
  return Kernel{.run = [rows = rows, width = width, count](const KernelCall& call) -> absl::Status {
    const int32_t* const ids = call.in_int32(1);
    if (absl::Status status = CheckIds(ids, count, rows); !status.ok()) return status;
    for (int64_t i = 0; i < count; ++i) {
      std::copy_n(call.in(0) + ids[i] * width, width, call.out() + i * width);
    }
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> EmbeddingGrad(const KernelSpec& spec) {
  const auto [rows, width] = RowsOf(spec.outputs[0].shape);
  const int64_t count = spec.inputs[1].shape.count();
  return Kernel{.run = [rows = rows, width = width, count,
                        &loops = BestLoops()](const KernelCall& call) -> absl::Status {
    const int32_t* const ids = call.in_int32(1);
    if (absl::Status status = CheckIds(ids, count, rows); !status.ok()) return status;
    std::fill_n(call.out(), rows * width, 0.0f);
    for (int64_t i = 0; i < count; ++i) {
      float* const row = call.out() + ids[i] * width;
      loops.add(row, call.in(0) + i * width, row, width);
    }
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> LayerNorm(const KernelSpec& spec) {
  const Rows x = RowsOf(spec.inputs[0].shape);
  const float epsilon = static_cast<float>(spec.attributes.Number("epsilon"));
  return Kernel{.run = [x, epsilon, &loops = BestSequenceLoops()](const KernelCall& call) {
    ParallelFor(call.threads, kSharesMax, [&](int64_t share) {
      const Range range = ShareOf(x.rows, kSharesMax, share);
      const int64_t at = range.begin * x.columns;
      loops.layer_norm(call.in(0) + at, call.in(1), call.in(2), epsilon, range.size(), x.columns,
                       call.out() + at,
                       {.mean = call.out(1) + range.begin, .inverse = call.out(2) + range.begin});
    });
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> LayerNormGrad(const KernelSpec& spec) {
  const Rows x = RowsOf(spec.inputs[0].shape);
  const auto run = [x, &loops = BestSequenceLoops(),
                    &sums = BestLoops()](const KernelCall& call) {
    auto* const parts = static_cast<float*>(call.scratch);  // Of dscale, then of doffset.
    std::fill_n(parts, 2 * kSharesMax * x.columns, 0.0f);
    ParallelFor(call.threads, kSharesMax, [&](int64_t share) {
      const Range range = ShareOf(x.rows, kSharesMax, share);
      const int64_t at = range.begin * x.columns;
      loops.layer_norm_grad(call.in(0) + at, call.in(1) + at, call.in(2),
                            call.in(3) + range.begin, call.in(4) + range.begin, range.size(),
                            x.columns, call.out() + at, parts + share * x.columns,
                            parts + (kSharesMax + share) * x.columns);
    });
    sums.sum_rows(parts, call.out(1), kSharesMax, x.columns);
    sums.sum_rows(parts + kSharesMax * x.columns, call.out(2), kSharesMax, x.columns);
    return absl::OkStatus();
  };
  return Kernel{.run = run,
                .scratch_bytes = sizeof(float) * static_cast<size_t>(2 * kSharesMax * x.columns)};
}

absl::StatusOr<Kernel> Gelu(const KernelSpec& spec) {
  const int64_t n = spec.inputs[0].shape.count();
  return Kernel{.run = [n, &loops = BestSequenceLoops()](const KernelCall& call) {
    ForParts(call.threads, n, [&](int64_t at, int64_t count) {
      loops.gelu(call.in(0) + at, call.out() + at, count);
    });
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> GeluGrad(const KernelSpec& spec) {
  const int64_t n = spec.inputs[0].shape.count();
  return Kernel{.run = [n, &loops = BestSequenceLoops()](const KernelCall& call) {
    ForParts(call.threads, n, [&](int64_t at, int64_t count) {
      loops.gelu_grad(call.in(0) + at, call.in(1) + at, call.out() + at, count);
    });
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> SwapLeading(const KernelSpec& spec) {
  const Shape& x = spec.inputs[0].shape;
  const int64_t rows = x.dim(0), columns = x.dim(1);
  const int64_t inner = rows * columns == 0 ? 0 : x.count() / (rows * columns);
  return Kernel{.run = [rows, columns, inner](const KernelCall& call) {
    ParallelFor(call.threads, columns, [&](int64_t column) {
      for (int64_t row = 0; row < rows; ++row) {
        std::copy_n(call.in(0) + (row * columns + column) * inner, inner,
                    call.out() + (column * rows + row) * inner);
      }
    });
    return absl::OkStatus();
  }};
}

}  // namespace

void AddSequenceKernels(KernelRegistry* kernels) {
  const auto add = [kernels](std::string_view op, KernelFactory factory) {
    kernels->Add(op, "CPU", DType::kFloat32, std::move(factory));
  };
  add("ToInt32", ToInt32);
  kernels->Add("OneHot", "CPU", DType::kInt32, OneHot);
  add("Embedding", Embedding);
  add("EmbeddingGrad", EmbeddingGrad);
  add("LayerNorm", LayerNorm);
  add("LayerNormGrad", LayerNormGrad);
  add("Gelu", Gelu);
  add("GeluGrad", GeluGrad);
  add("SwapLeading", SwapLeading);
}

}  // namespace taas
