// Convolution and pooling of images in NHWC order.

#include <algorithm>
#include <string>
#include <utility>

#include "operator/base/status.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/ops.h"
#include "trainer/graph/window.h"

namespace taas {
namespace {

using Types = std::vector<TensorType>;
using Ints = std::vector<int64_t>;

std::vector<AttributeSpec> With(std::vector<AttributeSpec> more) {
  std::vector<AttributeSpec> all = WindowAttributes();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// The window attributes of `from`, and one more.
Attributes Carry(const Attributes& from, std::string_view name, Ints value) {
  Attributes attributes;
  for (const AttributeSpec& spec : WindowAttributes()) {
    attributes.Set(spec.name, from.values().find(spec.name)->second);
  }
  attributes.Set(name, std::move(value));
  return attributes;
}

absl::StatusOr<Window> ConvolutionWindow(const Attributes& attributes, const TensorType& images,
                                         const TensorType& weights) {
  ASSIGN_OR_RETURN(const Window::Pair size, ImageSize(images));
  const Shape& w = weights.shape;
  if (weights.dtype != DType::kFloat32 || w.rank() != 4) {
    return absl::InvalidArgumentError("weights must be float32[height, width, in, out]");
  }
  if (w.dim(2) != images.shape.dim(3)) {
    return absl::InvalidArgumentError("the weights are for " + std::to_string(w.dim(2)) +
                                      " channels, the images have " +
                                      std::to_string(images.shape.dim(3)));
  }
  return WindowOf(attributes, size, {w.dim(0), w.dim(1)});
}

absl::StatusOr<Types> InferConv2D(const OpCall& call) {
  ASSIGN_OR_RETURN(const Window window,
                   ConvolutionWindow(call.attributes, call.inputs[0], call.inputs[1]));
  return Types{{DType::kFloat32, Shape({call.inputs[0].shape.dim(0), window.out[0], window.out[1],
                                        call.inputs[1].shape.dim(3)})}};
}

absl::Status Conv2DGradient(GradientCall& call) {
  const Shape images = call.graph.type(call.inputs[0]).shape;
  const Shape weights = call.graph.type(call.inputs[1]).shape;
  if (call.wanted[0]) {
    call.gradients[0] = call.graph.Add(
        "Conv2DInputGrad", "", {call.outputs[0], call.inputs[1]},
        Carry(call.attributes(), "image_size", {images.dim(1), images.dim(2)}));
  }
  if (call.wanted[1]) {
    call.gradients[1] = call.graph.Add(
        "Conv2DWeightsGrad", "", {call.inputs[0], call.outputs[0]},
        Carry(call.attributes(), "kernel_size", {weights.dim(0), weights.dim(1)}));
  }
  return absl::OkStatus();
}

// dy must be what Conv2D gives for these images and weights.
absl::Status CheckOutput(const TensorType& dy, const Window& window, const Shape& expected_ends) {
  if (dy.dtype == DType::kFloat32 && dy.shape.rank() == 4 &&
      dy.shape.dim(1) == window.out[0] && dy.shape.dim(2) == window.out[1] &&
      dy.shape.dim(0) == expected_ends.dim(0) && dy.shape.dim(3) == expected_ends.dim(1)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("dy is not of the shape of the output");
}

absl::StatusOr<Types> InferInputGrad(const OpCall& call) {
  ASSIGN_OR_RETURN(const Window::Pair size, PairOf(call.attributes, "image_size"));
  const Shape& dy = call.inputs[0].shape;
  const Shape& w = call.inputs[1].shape;
  if (dy.rank() != 4 || w.rank() != 4) {
    return absl::InvalidArgumentError("dy and weights must have four axes");
  }
  const TensorType images{DType::kFloat32, Shape({dy.dim(0), size[0], size[1], w.dim(2)})};
  ASSIGN_OR_RETURN(const Window window,
                   ConvolutionWindow(call.attributes, images, call.inputs[1]));
  RETURN_IF_ERROR(CheckOutput(call.inputs[0], window, Shape({dy.dim(0), w.dim(3)})));
  return Types{images};
}

absl::StatusOr<Types> InferWeightsGrad(const OpCall& call) {
  ASSIGN_OR_RETURN(const Window::Pair kernel, PairOf(call.attributes, "kernel_size"));
  const Shape& x = call.inputs[0].shape;
  const Shape& dy = call.inputs[1].shape;
  if (x.rank() != 4 || dy.rank() != 4) {
    return absl::InvalidArgumentError("images and dy must have four axes");
  }
  const TensorType weights{DType::kFloat32, Shape({kernel[0], kernel[1], x.dim(3), dy.dim(3)})};
  ASSIGN_OR_RETURN(const Window window,
                   ConvolutionWindow(call.attributes, call.inputs[0], weights));
  RETURN_IF_ERROR(CheckOutput(call.inputs[1], window, Shape({x.dim(0), dy.dim(3)})));
  return Types{weights};
}

// A product and a sum per output element and weight of its window; those that fall on padding are
// counted, too, as they are for every implementation.
OpCost ConvolutionCost(const OpCall& call, std::span<const TensorType> outputs, const Shape& y,
                       const Shape& w) {
  OpCost cost = ElementwiseCost(0)(call, outputs);
  cost.flops = 2.0 * static_cast<double>(y.count()) *
               static_cast<double>(w.dim(0) * w.dim(1) * w.dim(2));
  return cost;
}

absl::StatusOr<Window> PoolingWindow(const OpCall& call, const TensorType& images) {
  ASSIGN_OR_RETURN(const Window::Pair size, ImageSize(images));
  ASSIGN_OR_RETURN(const Window::Pair kernel, PairOf(call.attributes, "size"));
  ASSIGN_OR_RETURN(const Window window, WindowOf(call.attributes, size, kernel));
  for (size_t axis = 0; axis < 2; ++axis) {
    // Then some window would have no element at all.
    if (window.before[axis] < kernel[axis] && window.after[axis] < kernel[axis]) continue;
    return absl::InvalidArgumentError("the padding is as large as the window");
  }
  return window;
}

absl::StatusOr<Types> InferPool(const OpCall& call) {
  ASSIGN_OR_RETURN(const Window window, PoolingWindow(call, call.inputs[0]));
  const Shape& x = call.inputs[0].shape;
  return Types{{DType::kFloat32, Shape({x.dim(0), window.out[0], window.out[1], x.dim(3)})}};
}

absl::Status MaxPoolGradient(GradientCall& call) {
  call.gradients[0] =
      call.graph.Add("MaxPoolGrad", "", {call.outputs[0], call.inputs[0], call.node},
                     Carry(call.attributes(), "size", call.attributes().Ints("size")));
  return absl::OkStatus();
}

absl::StatusOr<Types> InferMaxPoolGrad(const OpCall& call) {
  ASSIGN_OR_RETURN(const Window window, PoolingWindow(call, call.inputs[1]));
  const Shape& x = call.inputs[1].shape;
  for (const size_t output : {size_t{0}, size_t{2}}) {
    RETURN_IF_ERROR(CheckOutput(call.inputs[output], window, Shape({x.dim(0), x.dim(3)})));
  }
  return Types{call.inputs[1]};
}

absl::Status AvgPoolGradient(GradientCall& call) {
  const Shape images = call.graph.type(call.inputs[0]).shape;
  Attributes attributes = Carry(call.attributes(), "size", call.attributes().Ints("size"));
  attributes.Set("image_size", Ints{images.dim(1), images.dim(2)});
  call.gradients[0] =
      call.graph.Add("AvgPoolGrad", "", {call.outputs[0]}, std::move(attributes));
  return absl::OkStatus();
}

absl::StatusOr<Types> InferAvgPoolGrad(const OpCall& call) {
  ASSIGN_OR_RETURN(const Window::Pair size, PairOf(call.attributes, "image_size"));
  const Shape& dy = call.inputs[0].shape;
  if (dy.rank() != 4) return absl::InvalidArgumentError("dy must have four axes");
  const TensorType images{DType::kFloat32, Shape({dy.dim(0), size[0], size[1], dy.dim(3)})};
  ASSIGN_OR_RETURN(const Window window, PoolingWindow(call, images));
  RETURN_IF_ERROR(CheckOutput(call.inputs[0], window, Shape({dy.dim(0), dy.dim(3)})));
  return Types{images};
}

absl::StatusOr<Types> InferDecodePixels(const OpCall& call) {
  const TensorType& x = call.inputs[0];
  if (x.dtype != DType::kUint8) return absl::InvalidArgumentError("pixels must be uint8");
  const int64_t padding = call.attributes.Int("crop_padding");
  if (call.inputs.size() == 1) {
    if (padding == 0 && !call.attributes.Bool("flip")) return Types{{DType::kFloat32, x.shape}};
    return absl::InvalidArgumentError("to crop and flip needs a seed for each image");
  }
  if (x.shape.rank() != 4) {
    return absl::InvalidArgumentError("images are [n, height, width, channels]");
  }
  if (call.inputs[1] != TensorType{DType::kInt64, Shape({x.shape.dim(0)})}) {
    return absl::InvalidArgumentError("seeds must be int64, one for each image");
  }
  // A margin as wide as the image could leave nothing of it.
  if (padding < 0 || padding >= std::min(x.shape.dim(1), x.shape.dim(2))) {
    return absl::InvalidArgumentError("crop_padding must be from 0 to less than the image");
  }
  return Types{{DType::kFloat32, x.shape}};
}

void AddConvolutions(OpRegistry* ops) {
  MustAdd(ops, {.name = "Conv2D",
                .inputs_min = 2,
                .inputs_max = 2,
                .attributes = WindowAttributes(),
                .infer = InferConv2D,
                .gradient = Conv2DGradient,
                .cost = [](const OpCall& call, std::span<const TensorType> outputs) {
                  return ConvolutionCost(call, outputs, outputs[0].shape, call.inputs[1].shape);
                }});
  MustAdd(ops, {.name = "Conv2DInputGrad",
                .inputs_min = 2,
                .inputs_max = 2,
                .attributes = With({{.name = "image_size", .default_value = Ints{}}}),
                .infer = InferInputGrad,
                .cost = [](const OpCall& call, std::span<const TensorType> outputs) {
                  return ConvolutionCost(call, outputs, call.inputs[0].shape,
                                         call.inputs[1].shape);
                }});
  MustAdd(ops, {.name = "Conv2DWeightsGrad",
                .inputs_min = 2,
                .inputs_max = 2,
                .attributes = With({{.name = "kernel_size", .default_value = Ints{}}}),
                .infer = InferWeightsGrad,
                .cost = [](const OpCall& call, std::span<const TensorType> outputs) {
                  return ConvolutionCost(call, outputs, call.inputs[1].shape, outputs[0].shape);
                }});
}

}  // namespace

void AddImageOps(OpRegistry* ops) {
  AddConvolutions(ops);
  MustAdd(ops, {.name = "DecodePixels",
                .inputs_max = 2,
                .attributes = {{.name = "scale", .default_value = 1.0 / 255.0},
                               {.name = "offset", .default_value = 0.0},
                               {.name = "crop_padding", .default_value = int64_t{0}},
                               {.name = "flip", .default_value = false}},
                .infer = InferDecodePixels,
                .cost = ElementwiseCost(2)});
  const AttributeSpec size{.name = "size", .default_value = Ints{2, 2}};
  const AttributeSpec image_size{.name = "image_size", .default_value = Ints{}};
  MustAdd(ops, {.name = "MaxPool",
                .attributes = With({size}),
                .infer = InferPool,
                .gradient = MaxPoolGradient,
                .cost = ElementwiseCost(4)});
  MustAdd(ops, {.name = "MaxPoolGrad",
                .inputs_min = 3,
                .inputs_max = 3,
                .attributes = With({size}),
                .infer = InferMaxPoolGrad,
                .cost = ElementwiseCost(3)});
  MustAdd(ops, {.name = "MaxPoolReluGrad",
                .inputs_min = 3,
                .inputs_max = 3,
                .attributes = With({size}),
                .infer = InferMaxPoolGrad,
                .cost = ElementwiseCost(4)});
  MustAdd(ops, {.name = "AvgPool",
                .attributes = With({size}),
                .infer = InferPool,
                .gradient = AvgPoolGradient,
                .cost = ElementwiseCost(4)});
  MustAdd(ops, {.name = "AvgPoolGrad",
                .attributes = With({size, image_size}),
                .infer = InferAvgPoolGrad,
                .cost = ElementwiseCost(1)});
}

}  // namespace taas
