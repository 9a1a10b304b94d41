// Ops that move, repeat or add up elements: Concat, Slice, Pad, Reshape, reductions and Expand.

#include <algorithm>
#include <string>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/ops.h"

namespace taas {
namespace {

using Types = std::vector<TensorType>;

// The attribute "axis", when input 0 has such an axis.
absl::StatusOr<int> AxisOf(const OpCall& call) {
  const int64_t axis = call.attributes.Int("axis");
  if (axis < 0 || axis >= call.inputs[0].shape.rank()) {
    return absl::InvalidArgumentError("there is no axis " + std::to_string(axis));
  }
  if (call.inputs[0].shape.dim(static_cast<int>(axis)) == Shape::kBatch) {
    return absl::InvalidArgumentError("the batch axis cannot be cut or joined");
  }
  return static_cast<int>(axis);
}

Shape WithDim(const Shape& shape, int axis, int64_t size) {
  std::vector<int64_t> dims = shape.dims();
  dims[static_cast<size_t>(axis)] = size;
  return Shape(std::move(dims));
}

absl::StatusOr<Types> InferConcat(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, call.inputs.size()));
  ASSIGN_OR_RETURN(const int axis, AxisOf(call));
  const Shape& first = call.inputs[0].shape;
  int64_t total = 0;
  for (const TensorType& type : call.inputs) {
    if (type.shape.rank() != first.rank() ||
        WithDim(type.shape, axis, 0) != WithDim(first, axis, 0) ||
        type.shape.dim(axis) == Shape::kBatch) {
      return absl::InvalidArgumentError("the inputs may differ in axis " + std::to_string(axis) +
                                        " only");
    }
    total += type.shape.dim(axis);
  }
  return Types{{DType::kFloat32, WithDim(first, axis, total)}};
}

absl::Status ConcatGradient(GradientCall& call) {
  const int64_t axis = call.attributes().Int("axis");
  int64_t begin = 0;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const int64_t size = call.graph.type(call.inputs[i]).shape.dim(static_cast<int>(axis));
    if (call.wanted[i]) {
      call.gradients[i] = call.graph.Add("Slice", "", {call.outputs[0]},
                                         {{"axis", axis}, {"begin", begin}, {"size", size}});
    }
    begin += size;
  }
  return absl::OkStatus();
}

absl::StatusOr<Types> InferSlice(const OpCall& call) {
  ASSIGN_OR_RETURN(const int axis, AxisOf(call));
  const int64_t begin = call.attributes.Int("begin");
  const int64_t size = call.attributes.Int("size");
  const int64_t limit = call.inputs[0].shape.dim(axis);
  if (begin < 0 || size < 0 || begin > limit || size > limit - begin) {
    return absl::InvalidArgumentError("elements " + std::to_string(begin) + " to " +
                                      std::to_string(begin + size) + " of axis " +
                                      std::to_string(axis) + " do not all exist");
  }
  return Types{{call.inputs[0].dtype, WithDim(call.inputs[0].shape, axis, size)}};
}

absl::Status SliceGradient(GradientCall& call) {
  const int64_t axis = call.attributes().Int("axis");
  const int64_t before = call.attributes().Int("begin");
  const int64_t whole = call.graph.type(call.inputs[0]).shape.dim(static_cast<int>(axis));
  const int64_t after = whole - before - call.attributes().Int("size");
  call.gradients[0] = call.graph.Add("Pad", "", {call.outputs[0]},
                                     {{"axis", axis}, {"before", before}, {"after", after}});
  return absl::OkStatus();
}

absl::StatusOr<Types> InferPad(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 1));
  ASSIGN_OR_RETURN(const int axis, AxisOf(call));
  const int64_t before = call.attributes.Int("before");
  const int64_t after = call.attributes.Int("after");
  if (before < 0 || after < 0) return absl::InvalidArgumentError("padding is not negative");
  const Shape& shape = call.inputs[0].shape;
  return Types{{DType::kFloat32, WithDim(shape, axis, shape.dim(axis) + before + after)}};
}

absl::Status PadGradient(GradientCall& call) {
  const int64_t axis = call.attributes().Int("axis");
  const int64_t size = call.graph.type(call.inputs[0]).shape.dim(static_cast<int>(axis));
  call.gradients[0] = call.graph.Add(
      "Slice", "", {call.outputs[0]},
      {{"axis", axis}, {"begin", call.attributes().Int("before")}, {"size", size}});
  return absl::OkStatus();
}

// A shape from an attribute: every dimension is a size or the batch.
absl::StatusOr<Shape> ShapeOf(const OpCall& call) {
  const std::vector<int64_t>& dims = call.attributes.Ints("shape");
  for (const int64_t dim : dims) {
    if (dim < 0 && dim != Shape::kBatch) {
      return absl::InvalidArgumentError("bad shape " + Shape(dims).ToString());
    }
  }
  return Shape(dims);
}

absl::StatusOr<Types> InferReshape(const OpCall& call) {
  ASSIGN_OR_RETURN(Shape shape, ShapeOf(call));
  const Shape& from = call.inputs[0].shape;
  // Equal for every batch size when equal for 1 and with the batch in both as often.
  if (std::ranges::count(from.dims(), Shape::kBatch) !=
          std::ranges::count(shape.dims(), Shape::kBatch) ||
      from.WithBatch(1).count() != shape.WithBatch(1).count()) {
    return absl::InvalidArgumentError(shape.ToString() + " has another number of elements");
  }
  return Types{{call.inputs[0].dtype, std::move(shape)}};
}

absl::Status ReshapeGradient(GradientCall& call) {
  call.gradients[0] = call.graph.Add("Reshape", "", {call.outputs[0]},
                                     {{"shape", call.graph.type(call.inputs[0]).shape.dims()}});
  return absl::OkStatus();
}

// The axes to reduce of a tensor of this rank: neighbours, in order.
absl::StatusOr<std::vector<int64_t>> AxesOf(const Attributes& attributes, int rank) {
  std::vector<int64_t> axes = attributes.Ints("axes");
  if (axes.empty()) {
    for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= rank || axes[i] != axes[0] + static_cast<int64_t>(i)) {
      return absl::InvalidArgumentError("axes must be neighbouring axes of the tensor, in order");
    }
  }
  return axes;
}

Shape WithoutAxes(const Shape& shape, const std::vector<int64_t>& axes) {
  std::vector<int64_t> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (std::ranges::count(axes, axis) == 0) dims.push_back(shape.dim(axis));
  }
  return Shape(std::move(dims));
}

absl::StatusOr<Types> InferReduce(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 1));
  const Shape& shape = call.inputs[0].shape;
  ASSIGN_OR_RETURN(const std::vector<int64_t> axes, AxesOf(call.attributes, shape.rank()));
  return Types{{DType::kFloat32, WithoutAxes(shape, axes)}};
}

absl::Status ReduceGradient(GradientCall& call, bool mean) {
  const Shape& shape = call.graph.type(call.inputs[0]).shape;
  call.gradients[0] = call.graph.Add(
      "Expand", "", {call.outputs[0]},
      {{"shape", shape.dims()}, {"axes", call.attributes().Ints("axes")}, {"mean", mean}});
  return absl::OkStatus();
}

absl::StatusOr<Types> InferExpand(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 1));
  ASSIGN_OR_RETURN(Shape shape, ShapeOf(call));
  ASSIGN_OR_RETURN(const std::vector<int64_t> axes, AxesOf(call.attributes, shape.rank()));
  if (WithoutAxes(shape, axes) != call.inputs[0].shape) {
    return absl::InvalidArgumentError(shape.ToString() + " without its axes has another shape");
  }
  return Types{{DType::kFloat32, std::move(shape)}};
}

absl::Status ExpandGradient(GradientCall& call) {
  call.gradients[0] =
      call.graph.Add(call.attributes().Bool("mean") ? "ReduceMean" : "ReduceSum", "",
                     {call.outputs[0]}, {{"axes", call.attributes().Ints("axes")}});
  return absl::OkStatus();
}

// A reduction reads more than it writes: one flop per element read.
OpCost ReduceCost(const OpCall& call, std::span<const TensorType> outputs) {
  OpCost cost = ElementwiseCost(0)(call, outputs);
  cost.flops = static_cast<double>(call.inputs[0].shape.count());
  return cost;
}

void AddReduce(OpRegistry* ops, const std::string& name, bool mean) {
  MustAdd(ops, {.name = name,
                .attributes = {{"axes", std::vector<int64_t>{}}},
                .infer = InferReduce,
                .gradient = [mean](GradientCall& call) { return ReduceGradient(call, mean); },
                .cost = ReduceCost});
}

}  // namespace

void AddShapeOps(OpRegistry* ops) {
  MustAdd(ops, {.name = "Concat",
                .inputs_min = 1,
                .inputs_max = OpDefinition::kVariadic,
                .attributes = {{"axis", int64_t{1}}},
                .infer = InferConcat,
                .gradient = ConcatGradient,
                .cost = ElementwiseCost(0)});
  MustAdd(ops, {.name = "Slice",
                .attributes = {{"axis", int64_t{1}},
                               {"begin", int64_t{0}, /*required=*/true},
                               {"size", int64_t{0}, /*required=*/true}},
                .infer = InferSlice,
                .gradient = SliceGradient,
                .cost = ElementwiseCost(0)});
  MustAdd(ops, {.name = "Pad",
                .attributes = {{"axis", int64_t{1}},
                               {"before", int64_t{0}, /*required=*/true},
                               {"after", int64_t{0}, /*required=*/true}},
                .infer = InferPad,
                .gradient = PadGradient,
                .cost = ElementwiseCost(0)});
  MustAdd(ops, {.name = "Reshape",
                .attributes = {{"shape", std::vector<int64_t>{}, /*required=*/true}},
                .infer = InferReshape,
                .gradient = ReshapeGradient,
                .cost = [](const OpCall&, std::span<const TensorType>) { return OpCost(); },
                .is_view = true});
  AddReduce(ops, "ReduceSum", /*mean=*/false);
  AddReduce(ops, "ReduceMean", /*mean=*/true);
  MustAdd(ops, {.name = "Expand",
                .attributes = {{"shape", std::vector<int64_t>{}, /*required=*/true},
                               {"axes", std::vector<int64_t>{}},
                               {"mean", false}},
                .infer = InferExpand,
                .gradient = ExpandGradient,
                .cost = ElementwiseCost(1)});
}

}  // namespace taas
