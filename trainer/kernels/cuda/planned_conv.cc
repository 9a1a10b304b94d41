#include "trainer/kernels/cuda/planned_conv.h"

#include <cstddef>
#include <cstdint>

#include "operator/base/status.h"
#include "trainer/kernels/cuda/gpu_device.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/moves_ops.h"

namespace taas::cuda {
namespace {

// What a kernel keeps: filters as the plan has them, and behind them the plan's workspace.
struct Layout {
  int64_t patch = 0, out = 0;  // Filters are a matrix [patch, out] of a variable.

  size_t workspace() const {
    return Aligned(static_cast<size_t>(patch * out) * sizeof(float));
  }
};

absl::Status Run(ConvPart part, const Layout& layout, const ConvPlan& plan,
                 const KernelCall& call) {
  auto* const filters = static_cast<float*>(call.scratch);
  ConvTensors tensors{.filters = filters,
                      .workspace = static_cast<std::byte*>(call.scratch) + layout.workspace()};
  if (part == ConvPart::kFiltersGrad) {
    tensors.images = const_cast<float*>(call.in(0));
    tensors.outputs = const_cast<float*>(call.in(1));
    RETURN_IF_ERROR(StreamOf(call).Convolve(plan, tensors));
    return Transpose(call, filters, call.out(), layout.out, layout.patch);
  }
  RETURN_IF_ERROR(Transpose(call, call.in(1), filters, layout.patch, layout.out));
  auto* const read = const_cast<float*>(call.in(0));
  const bool forward = part == ConvPart::kOutputs;
  tensors.images = forward ? read : call.out();
  tensors.outputs = forward ? call.out() : read;
  return StreamOf(call).Convolve(plan, tensors);
}

}  // namespace

ConvShape WithEvenPadding(ConvShape shape) {
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t padded = shape.image[axis] + 2 * shape.before[axis];
    const int64_t places = (padded - shape.filter[axis]) / shape.stride[axis] + 1;
    if (padded >= shape.filter[axis] && places == shape.output[axis]) {
      shape.after[axis] = shape.before[axis];
    }
  }
  return shape;
}

std::optional<Kernel> PlannedConv(const KernelSpec& spec, const ConvShape& shape) {
  if (spec.device == nullptr) return std::nullopt;
  const ConvPlan* const plan = static_cast<GpuDevice*>(spec.device)->PlanConvolution(shape);
  if (plan == nullptr) return std::nullopt;
  const Layout layout{.patch = shape.filter[0] * shape.filter[1] * shape.in, .out = shape.out};
  return Kernel{.run = [part = shape.part, layout, plan](const KernelCall& call) {
                  return Run(part, layout, *plan, call);
                },
                .scratch_bytes = layout.workspace() + plan->workspace_bytes(),
                .products = shape.tf32 ? Precision::kTf32 : Precision::kFloat32};
}

}  // namespace taas::cuda
