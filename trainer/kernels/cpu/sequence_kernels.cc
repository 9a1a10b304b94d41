#include "trainer/kernels/cpu/sequence_kernels.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/graph/rows.h"
#include "trainer/kernels/cpu/report.h"
#include "trainer/loops/loops.h"
#include "trainer/loops/parallel.h"
#include "trainer/loops/sequence_loops.h"

namespace taas {
namespace {

// Whether all can be looked up; if not, the first that cannot is reported.
bool CheckIds(const KernelCall& call, const int64_t* ids, int64_t count, int64_t rows) {
  for (int64_t i = 0; i < count; ++i) {
    if (ids[i] >= 0 && ids[i] < rows) continue;
    Report(call, {.kind = Fault::Kind::kId, .at = i, .bound = rows, .value = ids[i]});
    return false;
  }
  return true;
}

absl::StatusOr<Kernel> OneHot(const KernelSpec& spec) {
  const auto [count, size] = RowsOf(spec.outputs[0].shape);
  return Kernel{.run = [count = count, size = size](const KernelCall& call) -> absl::Status {
    const int64_t* const ids = call.in_int64(0);
    if (!CheckIds(call, ids, count, size)) return absl::OkStatus();
    std::fill_n(call.out(), count * size, 0.0f);
    for (int64_t i = 0; i < count; ++i) call.out()[i * size + ids[i]] = 1;
    return absl::OkStatus();
  }};
}

absl::StatusOr<Kernel> Embedding(const KernelSpec& spec) {
  const auto [rows, width] = RowsOf(spec.inputs[0].shape);
  const int64_t count = spec.inputs[1].shape.count();
  return Kernel{.run = [rows = rows, width = width, count](const KernelCall& call) -> absl::Status {
    const int64_t* const ids = call.in_int64(1);
    if (!CheckIds(call, ids, count, rows)) return absl::OkStatus();
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
    const int64_t* const ids = call.in_int64(1);
    if (!CheckIds(call, ids, count, rows)) return absl::OkStatus();
    std::fill_n(call.out(), rows * width, 0.0f);
    for (int64_t i = 0; i < count; ++i) {
      float* const row = call.out() + ids[i] * width;
      loops.add(row, call.in(0) + i * width, row, width);
    }
    return absl::OkStatus();
  }};
}

// All ids of the lookups of one table, and the gradients that arrive at them.
class Lookups {
 public:
  explicit Lookups(const KernelSpec& spec) : width_(RowsOf(spec.outputs[0].shape).columns) {
    for (size_t i = 1; i < spec.inputs.size(); i += 2) {
      counts_.push_back(spec.inputs[i].shape.count());
      count_ += counts_.back();
    }
  }

  int64_t count() const { return count_; }

  bool Check(const KernelCall& call, int64_t rows) const {
    for (size_t i = 0; i < counts_.size(); ++i) {
      if (!CheckIds(call, call.in_int64(2 * i + 1), counts_[i], rows)) return false;
    }
    return true;
  }

  // Each id above its position among all: sorted, they are by row, and of one row in their order.
  // Ids were checked: a table's rows have 32 bits (kTableRowsMax).
  void Sort(const KernelCall& call, uint64_t* uses) const {
    uint64_t position = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      const int64_t* const ids = call.in_int64(2 * i + 1);
      for (int64_t id = 0; id < counts_[i]; ++id, ++position) {
        uses[position] = static_cast<uint64_t>(ids[id]) << 32 | position;
      }
    }
    std::sort(uses, uses + count_);
  }

  static int64_t RowOf(uint64_t use) { return static_cast<int64_t>(use >> 32); }

  const float* GradientOf(const KernelCall& call, uint64_t use) const {
    int64_t position = static_cast<int64_t>(use & 0xffffffffu);
    size_t i = 0;
    for (; position >= counts_[i]; ++i) position -= counts_[i];
    return call.in(2 * i) + position * width_;
  }

 private:
  const int64_t width_;
  std::vector<int64_t> counts_;
  int64_t count_ = 0;
};

// Which rows are whose is decided by sorting, so that threads share no row: each row is a sum in
// the order of its ids, whatever their number.
absl::StatusOr<Kernel> EmbeddingRowsGrad(const KernelSpec& spec) {
  const Rows table = RowsOf(spec.outputs[0].shape);
  const Lookups lookups(spec);
  const auto run = [table, lookups,
                    &loops = BestLoops()](const KernelCall& call) -> absl::Status {
    if (!lookups.Check(call, table.rows)) return absl::OkStatus();
    const int64_t width = table.columns;
    int32_t* const rows = call.out_int32(1);
    int32_t& listed = *call.out_int32(2);
    ForRows(call.threads, listed, width, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        std::fill_n(call.out() + rows[i] * width, width, 0.0f);
      }
    });
    auto* const uses = static_cast<uint64_t*>(call.scratch);
    auto* const begins = reinterpret_cast<int32_t*>(uses + lookups.count());
    lookups.Sort(call, uses);
    listed = 0;
    for (int64_t i = 0; i < lookups.count(); ++i) {
      if (i > 0 && Lookups::RowOf(uses[i]) == Lookups::RowOf(uses[i - 1])) continue;
      rows[listed] = static_cast<int32_t>(Lookups::RowOf(uses[i]));
      begins[listed++] = static_cast<int32_t>(i);
    }
    begins[listed] = static_cast<int32_t>(lookups.count());
    ForRows(call.threads, listed, width, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        float* const row = call.out() + rows[i] * width;
        for (int32_t use = begins[i]; use < begins[i + 1]; ++use) {
          loops.add(row, lookups.GradientOf(call, uses[use]), row, width);
        }
      }
    });
    return absl::OkStatus();
  };
  const size_t count = static_cast<size_t>(lookups.count());
  return Kernel{.run = run,
                .scratch_bytes = count * sizeof(uint64_t) + (count + 1) * sizeof(int32_t)};
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
  kernels->Add("OneHot", "CPU", DType::kInt64, OneHot);
  add("Embedding", Embedding);
  add("EmbeddingGrad", EmbeddingGrad);
  add("EmbeddingRowsGrad", EmbeddingRowsGrad);
  add("LayerNorm", LayerNorm);
  add("LayerNormGrad", LayerNormGrad);
  add("Gelu", Gelu);
  add("GeluGrad", GeluGrad);
  add("SwapLeading", SwapLeading);
}

}  // namespace taas
