#include "trainer/kernels/cuda/conv_ops.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "operator/base/status.h"
#include "trainer/graph/window.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/planned_conv.h"
#include "trainer/kernels/cuda/product_ops.h"

namespace taas::cuda {
namespace {

// A convolution of one batch, as products of `at_once` images each.
struct Convolution {
  Window window;
  int64_t images = 0, in = 0, out = 0;  // Channels.
  int64_t at_once = 0;
  Precision precision = Precision::kFloat32;

  int64_t image() const { return window.in[0] * window.in[1] * in; }
  int64_t places() const { return window.out[0] * window.out[1]; }  // Of the window.
  int64_t patch() const { return window.kernel[0] * window.kernel[1] * in; }
  // Whether the images are their own patches.
  bool is_product() const {
    return patch() == in && window.stride == Window::Pair{1, 1} && window.out == window.in &&
           window.before == Window::Pair{0, 0};
  }
  size_t patches_bytes() const {
    if (is_product()) return 0;
    return Aligned(static_cast<size_t>(at_once * places() * patch()) * sizeof(float));
  }
};

absl::StatusOr<Convolution> ConvolutionOf(const KernelSpec& spec, const ConvOptions& options,
                                          const Shape& x, const Shape& w) {
  Convolution conv{.images = x.dim(0), .in = x.dim(3), .out = w.dim(3),
                   .precision = spec.products};
  ASSIGN_OR_RETURN(conv.window,
                   WindowOf(spec.attributes, {x.dim(1), x.dim(2)}, {w.dim(0), w.dim(1)}));
  const int64_t largest = std::max(conv.places() * conv.patch(), conv.image());
  if (largest > std::numeric_limits<int32_t>::max()) {
    return absl::UnimplementedError("patches of one image of " + x.ToString() + " are " +
                                    std::to_string(largest) + " numbers, at most 2^31 - 1 can be");
  }
  const int64_t of_one = std::max<int64_t>(largest * static_cast<int64_t>(sizeof(float)), 1);
  conv.at_once = conv.is_product()
                     ? conv.images
                     : std::clamp<int64_t>(options.patches_bytes_max / of_one, 1,
                                           std::max<int64_t>(conv.images, 1));
  return conv;
}

PatchesParams ParamsOf(const Convolution& conv, int64_t count) {
  const auto number = [](int64_t value) { return static_cast<uint32_t>(value); };
  const Window& w = conv.window;
  return {.from = nullptr,
          .to = nullptr,
          .count = number(count),
          .height = number(w.in[0]),
          .width = number(w.in[1]),
          .channels = number(conv.in),
          .out_height = number(w.out[0]),
          .out_width = number(w.out[1]),
          .kernel_height = number(w.kernel[0]),
          .kernel_width = number(w.kernel[1]),
          .stride_y = number(w.stride[0]),
          .stride_x = number(w.stride[1]),
          .top = number(w.before[0]),
          .left = number(w.before[1])};
}

ConvShape ShapeOf(const Convolution& conv, ConvPart part) {
  const Window& w = conv.window;
  return WithEvenPadding({.part = part,
                          .count = conv.images,
                          .in = conv.in,
                          .out = conv.out,
                          .image = w.in,
                          .filter = w.kernel,
                          .output = w.out,
                          .stride = w.stride,
                          .before = w.before,
                          .after = w.after,
                          .tf32 = conv.precision != Precision::kFloat32});
}

// Nothing is planned that is a product anyway, or of nothing.
std::optional<Kernel> Planned(const KernelSpec& spec, const ConvOptions& options,
                              const Convolution& conv, ConvPart part) {
  const int64_t work = conv.images * conv.places() * conv.patch() * conv.out;
  if (!options.planned || work == 0 || conv.is_product()) return std::nullopt;
  return PlannedConv(spec, ShapeOf(conv, part));
}

// Some images of the batch, and where they lie.
struct Part {
  int64_t first, count;
  float* patches;
  void* workspace;
};

// Calls `step` with each part of the batch, in order.
template <typename Step>
absl::Status ForParts(const Convolution& conv, const KernelCall& call, Step step) {
  auto* const scratch = static_cast<std::byte*>(call.scratch);
  for (int64_t first = 0; first < conv.images; first += conv.at_once) {
    RETURN_IF_ERROR(step(Part{.first = first,
                              .count = std::min(conv.at_once, conv.images - first),
                              .patches = reinterpret_cast<float*>(scratch),
                              .workspace = scratch + conv.patches_bytes()}));
  }
  return absl::OkStatus();
}

// The patches of a part's images: the images themselves, or what is made of them now.
absl::StatusOr<const float*> PatchesOf(const Convolution& conv, const Part& part,
                                       const KernelCall& call, const float* images) {
  const float* const first = images + part.first * conv.image();
  if (conv.is_product()) return first;
  const int64_t count = part.count * conv.places() * conv.patch();
  PatchesParams params = ParamsOf(conv, count);
  params.from = first;
  params.to = part.patches;
  RETURN_IF_ERROR(Launch(call, kPatchesKernel, ForElements(count), params));
  return part.patches;
}

absl::StatusOr<Kernel> Conv2D(const KernelSpec& spec, const ConvOptions& options) {
  ASSIGN_OR_RETURN(const Convolution conv, ConvolutionOf(spec, options, spec.inputs[0].shape,
                                                         spec.inputs[1].shape));
  if (std::optional<Kernel> kernel = Planned(spec, options, conv, ConvPart::kOutputs)) {
    return *std::move(kernel);
  }
  const size_t workspace = WorkspaceBytesFor(conv.at_once * conv.places(), conv.out);
  return Kernel{
      .run =
          [conv, workspace](const KernelCall& call) {
            return ForParts(conv, call, [&](const Part& part) -> absl::Status {
              ASSIGN_OR_RETURN(const float* const patches,
                               PatchesOf(conv, part, call, call.in(0)));
              return Multiply(call, {.m = part.count * conv.places(),
                                     .n = conv.out,
                                     .k = conv.patch(),
                                     .precision = conv.precision,
                                     .a = patches,
                                     .b = call.in(1),
                                     .c = call.out() + part.first * conv.places() * conv.out,
                                     .workspace = part.workspace,
                                     .workspace_bytes = workspace});
            });
          },
      .scratch_bytes = conv.patches_bytes() + workspace,
      .products = spec.products};
}

absl::StatusOr<Kernel> Conv2DInputGrad(const KernelSpec& spec, const ConvOptions& options) {
  ASSIGN_OR_RETURN(const Convolution conv, ConvolutionOf(spec, options, spec.outputs[0].shape,
                                                         spec.inputs[1].shape));
  if (std::optional<Kernel> kernel = Planned(spec, options, conv, ConvPart::kImagesGrad)) {
    return *std::move(kernel);
  }
  const size_t workspace = WorkspaceBytesFor(conv.at_once * conv.places(), conv.patch());
  return Kernel{
      .run =
          [conv, workspace](const KernelCall& call) {
            return ForParts(conv, call, [&](const Part& part) -> absl::Status {
              float* const images = call.out() + part.first * conv.image();
              float* const patches = conv.is_product() ? images : part.patches;
              RETURN_IF_ERROR(
                  Multiply(call, {.m = part.count * conv.places(),
                                  .n = conv.patch(),
                                  .k = conv.out,
                                  .transpose_b = true,
                                  .precision = conv.precision,
                                  .a = call.in(0) + part.first * conv.places() * conv.out,
                                  .b = call.in(1),
                                  .c = patches,
                                  .workspace = part.workspace,
                                  .workspace_bytes = workspace}));
              if (conv.is_product()) return absl::OkStatus();
              const int64_t count = part.count * conv.image();
              PatchesParams params = ParamsOf(conv, count);
              params.from = patches;
              params.to = images;
              return Launch(call, kPatchSumsKernel, ForElements(count), params);
            });
          },
      .scratch_bytes = conv.patches_bytes() + workspace,
      .products = spec.products};
}

absl::StatusOr<Kernel> Conv2DWeightsGrad(const KernelSpec& spec, const ConvOptions& options) {
  ASSIGN_OR_RETURN(const Convolution conv, ConvolutionOf(spec, options, spec.inputs[0].shape,
                                                         spec.outputs[0].shape));
  if (std::optional<Kernel> kernel = Planned(spec, options, conv, ConvPart::kFiltersGrad)) {
    return *std::move(kernel);
  }
  const size_t workspace = WorkspaceBytesFor(conv.patch(), conv.out);
  const size_t bytes = static_cast<size_t>(conv.patch() * conv.out) * sizeof(float);
  return Kernel{
      .run =
          [conv, workspace, bytes](const KernelCall& call) -> absl::Status {
            if (conv.images * conv.places() == 0) return StreamOf(call).Zero(call.out(), bytes);
            return ForParts(conv, call, [&](const Part& part) -> absl::Status {
              ASSIGN_OR_RETURN(const float* const patches,
                               PatchesOf(conv, part, call, call.in(0)));
              return Multiply(call, {.m = conv.patch(),
                                     .n = conv.out,
                                     .k = part.count * conv.places(),
                                     .transpose_a = true,
                                     .adds = part.first > 0,
                                     .precision = conv.precision,
                                     .a = patches,
                                     .b = call.in(1) + part.first * conv.places() * conv.out,
                                     .c = call.out(),
                                     .workspace = part.workspace,
                                     .workspace_bytes = workspace});
            });
          },
      .scratch_bytes = conv.patches_bytes() + workspace,
      .products = spec.products};
}

}  // namespace

void AddConvKernels(KernelRegistry* kernels, const ConvOptions& options) {
  using Make = absl::StatusOr<Kernel> (*)(const KernelSpec& spec, const ConvOptions& options);
  const auto add = [&](std::string_view op, Make make) {
    kernels->Add(op, kGpu, DType::kFloat32, [make, options](const KernelSpec& spec) {
      return make(spec, options);
    });
  };
  add("Conv2D", Conv2D);
  add("Conv2DInputGrad", Conv2DInputGrad);
  add("Conv2DWeightsGrad", Conv2DWeightsGrad);
}

}  // namespace taas::cuda
