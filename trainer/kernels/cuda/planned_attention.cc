#include "trainer/kernels/cuda/planned_attention.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>

#include "operator/base/status.h"
#include "trainer/kernels/cuda/by_fours.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {
namespace {

// Elements of a thread, as in places.h.
constexpr int64_t kEach = 4;

int64_t QueriesOf(const AttentionShape& shape) { return shape.examples * shape.steps; }

size_t NarrowBytes(int64_t count) {
  return Aligned(static_cast<size_t>(count) * sizeof(uint16_t));
}

// What a kernel keeps, one behind the other: tensors of bfloat16, and the plan's workspace.
struct Layout {
  AttentionShape all;
  int64_t at_once = 0;  // Examples.

  int64_t y() const { return QueriesOf(all) * all.width(); }
  int64_t qkv() const { return 3 * y(); }
  size_t y_at() const { return NarrowBytes(qkv()); }
  size_t dy_at() const { return y_at() + NarrowBytes(y()); }
  size_t dqkv_at() const { return dy_at() + NarrowBytes(y()); }
  size_t workspace_at() const {
    return all.part == AttentionPart::kOutputs ? dy_at() : dqkv_at() + NarrowBytes(qkv());
  }
};

absl::Status Narrow(const KernelCall& call, std::initializer_list<NarrowParams::Array> arrays) {
  NarrowParams params{.arrays = {}, .by_fours = true};
  std::ranges::copy(arrays, params.arrays);
  int64_t most = 0;
  for (const NarrowParams::Array& array : arrays) {
    most = std::max(most, array.count);
    params.by_fours = params.by_fours && ByFours({array.from, array.to});
  }
  Grid grid = ForElements(most, kEach);
  grid.y = static_cast<unsigned>(arrays.size());
  return Launch(call, kNarrowKernel, grid, params);
}

absl::Status Widen(const KernelCall& call, const void* from, float* to, int64_t count) {
  return Launch(call, kWidenKernel, ForElements(count, kEach),
                {.from = static_cast<const uint16_t*>(from),
                 .to = to,
                 .count = count,
                 .by_fours = ByFours({from, to})});
}

uint16_t* In(const KernelCall& call, size_t at) {
  return reinterpret_cast<uint16_t*>(static_cast<std::byte*>(call.scratch) + at);
}

// inputs: qkv; outputs: y, log sums.
absl::Status Forward(const Layout& layout, const AttentionPlan& plan, const KernelCall& call) {
  uint16_t* const qkv = In(call, 0);
  uint16_t* const y = In(call, layout.y_at());
  RETURN_IF_ERROR(Narrow(call, {{.from = call.in(0), .to = qkv, .count = layout.qkv()}}));
  RETURN_IF_ERROR(StreamOf(call).Attend(plan, {.qkv = qkv,
                                               .y = y,
                                               .log_sums = call.out(1),
                                               .workspace = In(call, layout.workspace_at())}));
  return Widen(call, y, call.out(), layout.y());
}

// inputs: dy, qkv, y, log sums; outputs: dqkv.
absl::Status Backward(const Layout& layout, const AttentionPlan& plan, const KernelCall& call) {
  uint16_t* const qkv = In(call, 0);
  uint16_t* const y = In(call, layout.y_at());
  uint16_t* const dy = In(call, layout.dy_at());
  uint16_t* const dqkv = In(call, layout.dqkv_at());
  RETURN_IF_ERROR(Narrow(call, {{.from = call.in(1), .to = qkv, .count = layout.qkv()},
                                {.from = call.in(2), .to = y, .count = layout.y()},
                                {.from = call.in(0), .to = dy, .count = layout.y()}}));
  const AttentionShape& all = layout.all;
  for (int64_t first = 0; first < all.examples; first += layout.at_once) {
    const int64_t begin = first * all.steps * all.width();
    RETURN_IF_ERROR(StreamOf(call).Attend(
        plan, {.qkv = qkv + 3 * begin,
               .y = y + begin,
               .log_sums = const_cast<float*>(call.in(3)) + first * all.heads * all.steps,
               .dy = dy + begin,
               .dqkv = dqkv + 3 * begin,
               .workspace = In(call, layout.workspace_at())}));
  }
  return Widen(call, dqkv, call.out(), layout.qkv());
}

}  // namespace

int64_t ExamplesAtOnce(const AttentionShape& shape, int64_t scores_bytes_max) {
  const auto rounded = [](int64_t count, int64_t to) { return (count + to - 1) / to * to; };
  // A tile of the kernels has 64 queries and 128 keys.
  const int64_t of_one = shape.heads * rounded(shape.steps, 64) * rounded(shape.steps, 128) *
                         static_cast<int64_t>(sizeof(uint16_t));
  // Forwards a plan keeps no scores.
  if (shape.part == AttentionPart::kOutputs) return shape.examples;
  for (int64_t parts = 1; parts < shape.examples; ++parts) {
    const int64_t at_once = shape.examples / parts;
    // A plan is of one shape, and log sums of a part begin where the plan wants them.
    const bool is_even = shape.examples % parts == 0 &&
                         (parts == 1 || at_once * shape.heads * shape.steps *
                                                static_cast<int64_t>(sizeof(float)) %
                                                kAttentionAlignment ==
                                            0);
    if (is_even && at_once * of_one <= scores_bytes_max) return at_once;
  }
  // One, unless its log sums begin elsewhere; then all, of which the device may have no plan.
  const int64_t of_row = shape.heads * shape.steps * static_cast<int64_t>(sizeof(float));
  return of_row % kAttentionAlignment == 0 ? 1 : shape.examples;
}

const AttentionPlan* PlanFor(GpuDevice& device, const AttentionShape& shape) {
  AttentionShape part = shape;
  part.examples = ExamplesAtOnce(shape);
  return device.PlanAttention(part);
}

std::optional<Kernel> PlannedAttention(const KernelSpec& spec, const AttentionShape& shape) {
  const bool is_nothing = QueriesOf(shape) * shape.width() == 0;
  if (spec.device == nullptr || spec.products != Precision::kBFloat16 || is_nothing) {
    return std::nullopt;
  }
  const bool forward = shape.part == AttentionPart::kOutputs;
  const Layout layout{.all = shape, .at_once = ExamplesAtOnce(shape)};
  const AttentionPlan* const plan = PlanFor(*static_cast<GpuDevice*>(spec.device), shape);
  if (plan == nullptr) return std::nullopt;
  return Kernel{.run =
                    [=](const KernelCall& call) {
                      return forward ? Forward(layout, *plan, call) : Backward(layout, *plan, call);
                    },
                .scratch_bytes = layout.workspace_at() + plan->workspace_bytes(),
                .products = Precision::kBFloat16};
}

}  // namespace taas::cuda
