// MatMul and the elementwise ops.

#include "trainer/graph/graph.h"
#include "trainer/graph/ops.h"

#include <string>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"

namespace taas {

void MustAdd(OpRegistry* ops, OpDefinition definition) {
  const absl::Status status = ops->Add(std::move(definition));
  CHECK(status.ok()) << std::string(status.message());
}

std::function<OpCost(const OpCall&, std::span<const TensorType>)> ElementwiseCost(double flops) {
  return [flops](const OpCall& call, std::span<const TensorType> outputs) {
    OpCost cost;
    for (const TensorType& type : call.inputs) {
      cost.bytes += static_cast<double>(type.shape.count()) * SizeOf(type.dtype);
    }
    for (const TensorType& type : outputs) {
      cost.bytes += static_cast<double>(type.shape.count()) * SizeOf(type.dtype);
      cost.flops += flops * static_cast<double>(type.shape.count());
    }
    return cost;
  };
}

absl::Status RequireFloat(const OpCall& call, size_t inputs) {
  for (size_t i = 0; i < inputs; ++i) {
    if (call.inputs[i].dtype == DType::kFloat32) continue;
    return absl::InvalidArgumentError("input " + std::to_string(i) + " must be float32");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TensorType>> SameAsFirst(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 1));
  return std::vector<TensorType>{call.inputs[0]};
}

absl::StatusOr<std::vector<TensorType>> AllEqual(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, call.inputs.size()));
  for (const TensorType& type : call.inputs) {
    if (type.shape != call.inputs[0].shape) {
      return absl::InvalidArgumentError("the inputs must have one shape");
    }
  }
  return std::vector<TensorType>{call.inputs[0]};
}

namespace {

using Types = std::vector<TensorType>;

// All axes but the last.
std::vector<int64_t> RowsOf(const Shape& shape) {
  std::vector<int64_t> dims = shape.dims();
  dims.pop_back();
  return dims;
}

absl::StatusOr<std::vector<TensorType>> InferMatMul(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 2));
  const Shape& a = call.inputs[0].shape;
  const Shape& b = call.inputs[1].shape;
  const bool ta = call.attributes.Bool("transpose_a");
  const bool tb = call.attributes.Bool("transpose_b");
  // Leading axes are rows: of the result, or, where a is transposed, summed over in both.
  const bool summed_rows = ta && !tb;
  if (a.rank() < 2 || b.rank() < 2 || (b.rank() > 2 && !summed_rows) ||
      (a.rank() > 2 && ta && tb)) {
    return absl::InvalidArgumentError("both must be matrices");
  }
  const int64_t a_columns = a.dim(a.rank() - 1);
  const int64_t b_columns = b.dim(b.rank() - 1);
  const bool agree = ta && tb       ? a.dim(0) == b_columns
                     : summed_rows ? RowsOf(a) == RowsOf(b)
                                   : a_columns == b.dim(tb ? 1 : 0);
  if (!agree) return absl::InvalidArgumentError("the inner dimensions differ");
  if (ta) return Types{{DType::kFloat32, Shape({a_columns, tb ? b.dim(0) : b_columns})}};
  std::vector<int64_t> dims = RowsOf(a);
  dims.push_back(b.dim(tb ? 0 : 1));
  return Types{{DType::kFloat32, Shape(std::move(dims))}};
}

// C = A'B' where ' is the op's own transposition. dA' = dC B'^T and dB' = A'^T dC, transposed once
// more where A or B itself was transposed.
absl::Status MatMulGradient(GradientCall& call) {
  const bool ta = call.attributes().Bool("transpose_a");
  const bool tb = call.attributes().Bool("transpose_b");
  const Value a = call.inputs[0];
  const Value b = call.inputs[1];
  const Value dc = call.outputs[0];
  const auto product = [&call](Value left, bool left_transposed, Value right,
                               bool right_transposed) {
    return call.graph.Add("MatMul", "", {left, right},
                          {{"transpose_a", left_transposed}, {"transpose_b", right_transposed}});
  };
  if (call.wanted[0]) {
    call.gradients[0] = ta ? product(b, tb, dc, true) : product(dc, false, b, !tb);
  }
  if (call.wanted[1]) {
    call.gradients[1] = tb ? product(dc, true, a, ta) : product(a, !ta, dc, false);
  }
  return absl::OkStatus();
}

OpCost MatMulCost(const OpCall& call, std::span<const TensorType> outputs) {
  OpCost cost = ElementwiseCost(0)(call, outputs);
  const Shape& a = call.inputs[0].shape;
  const int64_t columns = a.dim(a.rank() - 1);
  const int64_t rows = columns == 0 ? 0 : a.count() / columns;
  const int64_t inner = call.attributes.Bool("transpose_a") ? rows : columns;
  cost.flops = 2.0 * static_cast<double>(outputs[0].shape.count()) * static_cast<double>(inner);
  return cost;
}

absl::StatusOr<std::vector<TensorType>> InferBiasAdd(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 2));
  const Shape& x = call.inputs[0].shape;
  const Shape& b = call.inputs[1].shape;
  if (x.rank() < 1 || b.rank() != 1 || b.dim(0) != x.dim(x.rank() - 1)) {
    return absl::InvalidArgumentError("the bias must be a vector as long as the last axis");
  }
  return std::vector<TensorType>{call.inputs[0]};
}

absl::StatusOr<std::vector<TensorType>> InferMatMulBias(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 3));
  ASSIGN_OR_RETURN(Types product, InferMatMul({call.inputs.first(2), call.attributes}));
  const TensorType sum[] = {product[0], call.inputs[2]};
  return InferBiasAdd({sum, call.attributes});
}

absl::StatusOr<std::vector<TensorType>> InferMatMulBiasGrad(const OpCall& call) {
  const Attributes transposed = {{"transpose_a", true}, {"transpose_b", false}};
  ASSIGN_OR_RETURN(Types gradients, InferMatMul({call.inputs, transposed}));
  gradients.push_back({DType::kFloat32, Shape({gradients[0].shape.dim(1)})});
  return gradients;
}

// The sum of `dy` over all axes but the last.
Value BiasGradient(Graph& graph, Value dy) {
  std::vector<int64_t> axes;
  for (int axis = 0; axis + 1 < graph.type(dy).shape.rank(); ++axis) axes.push_back(axis);
  if (axes.empty()) return dy;
  return graph.Add("ReduceSum", "", {dy}, {{"axes", axes}});
}

absl::Status BiasAddGradient(GradientCall& call) {
  call.gradients[0] = call.outputs[0];
  if (call.wanted[1]) call.gradients[1] = BiasGradient(call.graph, call.outputs[0]);
  return absl::OkStatus();
}

absl::Status BiasAddReluGradient(GradientCall& call) {
  const Value dx = call.graph.Add("ReluGrad", "", {call.outputs[0], call.node});
  call.gradients[0] = dx;
  if (call.wanted[1]) call.gradients[1] = BiasGradient(call.graph, dx);
  return absl::OkStatus();
}

absl::Status MulGradient(GradientCall& call) {
  for (size_t i = 0; i < 2; ++i) {
    if (!call.wanted[i]) continue;
    call.gradients[i] = call.graph.Add("Mul", "", {call.outputs[0], call.inputs[1 - i]});
  }
  return absl::OkStatus();
}

// Their product, and a sum for each element of dy.
OpCost MatMulBiasGradCost(const OpCall& call, std::span<const TensorType> outputs) {
  OpCost cost = ElementwiseCost(0)(call, outputs);
  const double elements = static_cast<double>(call.inputs[1].shape.count());
  const Shape& weights = outputs[0].shape;
  cost.flops = (2.0 * static_cast<double>(weights.dim(0)) + 1) * elements;
  return cost;
}

// The gradient passes unchanged to every input.
absl::Status PassGradient(GradientCall& call) {
  for (Value& gradient : call.gradients) gradient = call.outputs[0];
  return absl::OkStatus();
}

absl::Status SubGradient(GradientCall& call) {
  call.gradients[0] = call.outputs[0];
  if (call.wanted[1]) {
    call.gradients[1] = call.graph.Add("Scale", "", {call.outputs[0]}, {{"factor", -1.0}});
  }
  return absl::OkStatus();
}

absl::Status ScaleGradient(GradientCall& call) {
  call.gradients[0] = call.graph.Add("Scale", "", {call.outputs[0]},
                                     {{"factor", call.attributes().Number("factor")}});
  return absl::OkStatus();
}

absl::Status SquareGradient(GradientCall& call) {
  const Value product = call.graph.Add("Mul", "", {call.outputs[0], call.inputs[0]});
  call.gradients[0] = call.graph.Add("Scale", "", {product}, {{"factor", 2.0}});
  return absl::OkStatus();
}

// An elementwise op whose derivative is a function of its own output, computed by `gradient_op`.
void AddActivation(OpRegistry* ops, const std::string& name, double flops) {
  const std::string gradient_op = name + "Grad";
  MustAdd(ops, {.name = name,
                .infer = SameAsFirst,
                .gradient =
                    [gradient_op](GradientCall& call) {
                      call.gradients[0] =
                          call.graph.Add(gradient_op, "", {call.outputs[0], call.node});
                      return absl::OkStatus();
                    },
                .cost = ElementwiseCost(flops),
                .in_place_input = 0});
  MustAdd(ops, {.name = gradient_op,
                .inputs_min = 2,
                .inputs_max = 2,
                .infer = AllEqual,
                .cost = ElementwiseCost(2),
                .in_place_input = 0});
}

void AddBinary(OpRegistry* ops, const std::string& name,
               std::function<absl::Status(GradientCall&)> gradient) {
  MustAdd(ops, {.name = name,
                .inputs_min = 2,
                .inputs_max = 2,
                .infer = AllEqual,
                .gradient = std::move(gradient),
                .cost = ElementwiseCost(1),
                .in_place_input = 0});
}

void AddProducts(OpRegistry* ops) {
  MustAdd(ops, {.name = "MatMul",
                .inputs_min = 2,
                .inputs_max = 2,
                .attributes = {{"transpose_a", false}, {"transpose_b", false}},
                .infer = InferMatMul,
                .gradient = MatMulGradient,
                .cost = MatMulCost});
  MustAdd(ops, {.name = "MatMulBias",
                .inputs_min = 3,
                .inputs_max = 3,
                .attributes = {{"transpose_a", false}, {"transpose_b", false}},
                .infer = InferMatMulBias,
                .cost = MatMulCost});
  MustAdd(ops, {.name = "MatMulBiasGrad",
                .inputs_min = 2,
                .inputs_max = 2,
                .infer = InferMatMulBiasGrad,
                .cost = MatMulBiasGradCost});
  MustAdd(ops, {.name = "BiasAdd",
                .inputs_min = 2,
                .inputs_max = 2,
                .infer = InferBiasAdd,
                .gradient = BiasAddGradient,
                .cost = ElementwiseCost(1),
                .in_place_input = 0});
  MustAdd(ops, {.name = "BiasAddRelu",
                .inputs_min = 2,
                .inputs_max = 2,
                .infer = InferBiasAdd,
                .gradient = BiasAddReluGradient,
                .cost = ElementwiseCost(2),
                .in_place_input = 0});
}

}  // namespace

void AddMathOps(OpRegistry* ops) {
  AddProducts(ops);
  AddBinary(ops, "Add", PassGradient);
  AddBinary(ops, "Sub", SubGradient);
  AddBinary(ops, "Mul", MulGradient);
  MustAdd(ops, {.name = "AddN",
                .inputs_min = 1,
                .inputs_max = OpDefinition::kVariadic,
                .infer = AllEqual,
                .gradient = PassGradient,
                .cost = ElementwiseCost(1),
                .in_place_input = 0});
  MustAdd(ops, {.name = "Scale",
                .attributes = {{"factor", 1.0, /*required=*/true}},
                .infer = SameAsFirst,
                .gradient = ScaleGradient,
                .cost = ElementwiseCost(1),
                .in_place_input = 0});
  MustAdd(ops, {.name = "Square",
                .infer = SameAsFirst,
                .gradient = SquareGradient,
                .cost = ElementwiseCost(1),
                .in_place_input = 0});
  MustAdd(ops, {.name = "Identity",
                .infer = SameAsFirst,
                .gradient = PassGradient,
                .cost = ElementwiseCost(0),
                .in_place_input = 0});
  AddActivation(ops, "Relu", 1);
  AddActivation(ops, "Sigmoid", 20);  // The exponential's polynomial.
  AddActivation(ops, "Tanh", 22);
}

}  // namespace taas
