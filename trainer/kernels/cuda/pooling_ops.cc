#include "trainer/kernels/cuda/pooling_ops.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <utility>

#include "operator/base/status.h"
#include "trainer/graph/window.h"
#include "trainer/kernels/cuda/by_fours.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {
namespace {

absl::StatusOr<PoolWindows> WindowsOf(const Attributes& attributes, const Shape& images) {
  ASSIGN_OR_RETURN(const Window::Pair kernel, PairOf(attributes, "size"));
  ASSIGN_OR_RETURN(const Window window,
                   WindowOf(attributes, {images.dim(1), images.dim(2)}, kernel));
  // Threads count along a row in 32 bits, and look a window beyond an edge.
  constexpr int64_t kLargest = std::numeric_limits<int>::max() / 4;
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t beyond =
        window.in[axis] + window.before[axis] + window.after[axis] + window.kernel[axis];
    if (beyond * std::max<int64_t>(1, images.dim(3)) <= kLargest) continue;
    return absl::InvalidArgumentError("an image has too many elements along an axis for a GPU");
  }
  PoolWindows windows{.images = images.dim(0), .channels = static_cast<int>(images.dim(3))};
  for (size_t axis = 0; axis < 2; ++axis) {
    windows.in[axis] = static_cast<int>(window.in[axis]);
    windows.out[axis] = static_cast<int>(window.out[axis]);
    windows.kernel[axis] = static_cast<int>(window.kernel[axis]);
    windows.stride[axis] = static_cast<int>(window.stride[axis]);
    windows.before[axis] = static_cast<int>(window.before[axis]);
  }
  return windows;
}

// Blocks for all rows of images of that size; narrow rows have smaller ones.
Grid ForRows(const PoolWindows& windows, const int size[2]) {
  constexpr int64_t kGridYMax = 65'535, kWarp = 32, kThreads = 256;
  const int64_t in_row = int64_t{size[1]} * windows.channels / (windows.by_fours ? 4 : 1);
  const int64_t threads = std::clamp((in_row + kWarp - 1) / kWarp * kWarp, kWarp, kThreads);
  return {.x = static_cast<unsigned>((in_row + threads - 1) / threads),
          .y = static_cast<unsigned>(std::min(windows.images * size[0], kGridYMax)),
          .threads = static_cast<unsigned>(threads)};
}

// By fours where a call's tensors lie so.
PoolWindows AsMemoryAllows(PoolWindows windows, std::initializer_list<const void*> tensors) {
  windows.by_fours = windows.channels % 4 == 0 && ByFours(tensors);
  return windows;
}

KernelFactory Pool(KernelRef<PoolParams> kernel) {
  return [kernel](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
    ASSIGN_OR_RETURN(const PoolWindows windows, WindowsOf(spec.attributes, spec.inputs[0].shape));
    return Kernel{.run = [kernel, windows](const KernelCall& call) {
      const PoolWindows of = AsMemoryAllows(windows, {call.in(0), call.out()});
      return Launch(call, kernel, ForRows(of, of.out),
                    {.x = call.in(0), .y = call.out(), .windows = of});
    }};
  };
}

KernelFactory MaxPoolGrad(bool after_relu) {
  return [after_relu](const KernelSpec& spec) -> absl::StatusOr<Kernel> {
    ASSIGN_OR_RETURN(const PoolWindows windows, WindowsOf(spec.attributes, spec.inputs[1].shape));
    return Kernel{.run = [windows, after_relu](const KernelCall& call) {
      const PoolWindows of =
          AsMemoryAllows(windows, {call.in(0), call.in(1), call.in(2), call.out()});
      return Launch(call, kMaxPoolGradKernel, ForRows(of, of.in),
                    {.dy = call.in(0),
                     .x = call.in(1),
                     .y = call.in(2),
                     .dx = call.out(),
                     .windows = of,
                     .after_relu = after_relu});
    }};
  };
}

absl::StatusOr<Kernel> AvgPoolGrad(const KernelSpec& spec) {
  ASSIGN_OR_RETURN(const PoolWindows windows, WindowsOf(spec.attributes, spec.outputs[0].shape));
  return Kernel{.run = [windows](const KernelCall& call) {
    const PoolWindows of = AsMemoryAllows(windows, {call.in(0), call.out()});
    return Launch(call, kAvgPoolGradKernel, ForRows(of, of.in),
                  {.dy = call.in(0),
                   .x = nullptr,
                   .y = nullptr,
                   .dx = call.out(),
                   .windows = of,
                   .after_relu = false});
  }};
}

}  // namespace

void AddPoolingKernels(KernelRegistry* kernels) {
  const auto add = [kernels](std::string_view op, KernelFactory factory) {
    kernels->Add(op, kGpu, DType::kFloat32, std::move(factory));
  };
  add("MaxPool", Pool(kMaxPoolKernel));
  add("MaxPoolGrad", MaxPoolGrad(false));
  add("MaxPoolReluGrad", MaxPoolGrad(true));
  add("AvgPool", Pool(kAvgPoolKernel));
  add("AvgPoolGrad", AvgPoolGrad);
}

}  // namespace taas::cuda
