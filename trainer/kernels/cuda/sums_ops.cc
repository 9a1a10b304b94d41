#include "trainer/kernels/cuda/sums_ops.h"

#include <algorithm>
#include <vector>

#include "operator/base/status.h"
#include "trainer/kernels/cuda/by_fours.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/teams.h"

namespace taas::cuda {
namespace {

// A tensor around the neighbouring axes of a sum: [outer, middle, inner].
struct Around {
  int64_t outer = 1;
  int64_t middle = 1;
  int64_t inner = 1;
};

Around AroundAxes(const Shape& whole, const std::vector<int64_t>& axes) {
  const int64_t first = axes.empty() ? 0 : axes.front();
  const int64_t last = axes.empty() ? whole.rank() - 1 : axes.back();
  Around around;
  for (int axis = 0; axis < whole.rank(); ++axis) {
    int64_t& part = axis < first ? around.outer : axis > last ? around.inner : around.middle;
    part *= whole.dim(axis);
  }
  return around;
}

// More blocks than a GPU runs at once would only make more sums to add up.
constexpr int64_t kBlocksMax = 1'024;

// Into how many parts `terms` of each of `sums` are cut, and of how many terms: as long as there
// are blocks to spare, and a part has `least` terms.
struct Parts {
  int64_t count = 1;
  int64_t share = 0;
};

Parts PartsOf(int64_t sums, int64_t terms, int64_t least) {
  const int64_t spare = std::max<int64_t>(kBlocksMax / std::max<int64_t>(sums, 1), 1);
  const int64_t wanted = std::clamp<int64_t>(terms / least, 1, spare);
  constexpr int64_t kLine = 32;  // Floats, of which a warp takes a whole line.
  const int64_t lines = ((terms + wanted - 1) / wanted + kLine - 1) / kLine;
  const int64_t share = std::max<int64_t>(lines, 1) * kLine;
  return {std::max<int64_t>((terms + share - 1) / share, 1), share};
}

// A thread of a block adds up at least 16 elements of a row; of a column, 8.
constexpr int64_t kColumnsOfPart = 16 * int64_t{kBlockThreads};
constexpr int64_t kRowsOfPart = 8 * int64_t{kWarpsOfBlock};

// How y = factor · Σ term is computed, in one launch or in two.
struct Sum {
  Around around;
  Term term = Term::kItself;
  float factor = 1;
  Parts parts{};

  bool of_rows() const { return around.inner == 1; }
  int64_t tiles() const { return (around.inner + kWarpThreads - 1) / kWarpThreads; }
  int64_t scratch_floats() const {
    return parts.count == 1 ? 0 : around.outer * parts.count * around.inner;
  }
};

Sum SumOf(const Around& around, Term term, float factor) {
  Sum sum{.around = around, .term = term, .factor = factor};
  sum.parts = {1, std::max<int64_t>(around.middle, 1)};
  if (!sum.of_rows()) {
    sum.parts = PartsOf(around.outer * sum.tiles(), around.middle, kRowsOfPart);
  } else if (around.middle > kWarpColumnsMax) {
    sum.parts = PartsOf(around.outer, around.middle, kColumnsOfPart);
  }
  return sum;
}

absl::Status LaunchSum(const KernelCall& call, const Sum& sum, const float* x, float* y) {
  const Around& a = sum.around;
  const int64_t parts = sum.parts.count, share = sum.parts.share;
  if (!sum.of_rows()) {
    return Launch(call, kColumnSumsKernel,
                  {.x = static_cast<unsigned>(a.outer * sum.tiles() * parts),
                   .threads = kBlockThreads},
                  {.x = x,
                   .y = y,
                   .middle = a.middle,
                   .inner = a.inner,
                   .tiles = sum.tiles(),
                   .parts = parts,
                   .share = share,
                   .factor = sum.factor});
  }
  const RowSumsParams p{.x = x,
                        .y = y,
                        .rows = a.outer,
                        .columns = a.middle,
                        .parts = parts,
                        .share = share,
                        .factor = sum.factor,
                        .term = sum.term};
  const Rows rows{a.outer, a.middle};
  // A few rows that are not short keep more of the GPU busy as blocks.
  const bool few = a.outer < 64 && a.middle > 4 * kWarpThreads;
  if (OfWarps(rows) && !few) return Launch(call, kRowSumsByWarpKernel, TeamGrid(rows), p);
  return Launch(call, kRowSumsByBlockKernel,
                {.x = static_cast<unsigned>(a.outer * parts), .threads = kBlockThreads}, p);
}

size_t ScratchBytes(const Sum& sum) {
  return static_cast<size_t>(sum.scratch_floats()) * sizeof(float);
}

// In `scratch`, ScratchBytes of it.
absl::Status LaunchParts(const KernelCall& call, const Sum& sum, const float* x, float* y,
                         void* scratch) {
  if (sum.parts.count == 1) return LaunchSum(call, sum, x, y);
  auto* const sums = static_cast<float*>(scratch);
  Sum parts = sum;
  parts.factor = 1;
  RETURN_IF_ERROR(LaunchSum(call, parts, x, sums));
  Sum rest = sum;
  rest.around.middle = sum.parts.count;
  rest.term = Term::kItself;
  rest.parts = {1, sum.parts.count};
  return LaunchSum(call, rest, sums, y);
}

Kernel SumKernel(const Sum& sum) {
  return {.run =
              [sum](const KernelCall& call) {
                return LaunchParts(call, sum, call.in(0), call.out(), call.scratch);
              },
          .scratch_bytes = ScratchBytes(sum)};
}

Sum SumOfColumns(int64_t rows, int64_t columns) {
  return SumOf({.middle = rows, .inner = columns}, Term::kItself, 1.0f);
}

KernelFactory Reduce(bool mean) {
  return [mean](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
    const Around around = AroundAxes(spec.inputs[0].shape, spec.attributes.Ints("axes"));
    const bool divides = mean && around.middle > 0;
    const float factor = divides ? 1.0f / static_cast<float>(around.middle) : 1.0f;
    return SumKernel(SumOf(around, Term::kItself, factor));
  };
}

KernelFactory SumOfAll(Term term, float factor) {
  return [term, factor](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
    return SumKernel(SumOf({.middle = spec.inputs[0].shape.count()}, term, factor));
  };
}

absl::StatusOr<Kernel> Expand(const KernelSpec& spec) {
  const Around around = AroundAxes(spec.outputs[0].shape, spec.attributes.Ints("axes"));
  const bool divides = spec.attributes.Bool("mean") && around.middle > 0;
  const float factor = divides ? 1.0f / static_cast<float>(around.middle) : 1.0f;
  const int64_t n = spec.outputs[0].shape.count();
  return Kernel{.run = [around, factor, n](const KernelCall& call) {
    return Launch(call, kExpandKernel, ForElements(n, 4),
                  {.x = call.in(0),
                   .y = call.out(),
                   .count = n,
                   .middle = around.middle,
                   .inner = around.inner,
                   .factor = factor,
                   .by_fours = around.inner % 4 == 0 && ByFours({call.in(0), call.out()})});
  }};
}

}  // namespace

size_t ColumnSumsScratchBytes(int64_t rows, int64_t columns) {
  return ScratchBytes(SumOfColumns(rows, columns));
}

absl::Status LaunchColumnSums(const KernelCall& call, const ColumnSums& of) {
  return LaunchParts(call, SumOfColumns(of.rows, of.columns), of.x, of.y, of.scratch);
}

void AddSumKernels(KernelRegistry* kernels) {
  kernels->Add("ReduceSum", kGpu, DType::kFloat32, Reduce(/*mean=*/false));
  kernels->Add("ReduceMean", kGpu, DType::kFloat32, Reduce(/*mean=*/true));
  kernels->Add("L1Loss", kGpu, DType::kFloat32, SumOfAll(Term::kSize, 1.0f));
  kernels->Add("L2Loss", kGpu, DType::kFloat32, SumOfAll(Term::kSquare, 0.5f));
  kernels->Add("Expand", kGpu, DType::kFloat32, Expand);
}

}  // namespace taas::cuda
