// Losses with fused gradients, and the measures of a classifier.

#include <string>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/ops.h"

namespace taas {
namespace {

using Types = std::vector<TensorType>;

// What the exponential of a softmax costs, with the sums around it.
constexpr double kSoftmaxFlops = 20;

const TensorType kScalar{DType::kFloat32, Shape()};

// Input 0 is float32[…, classes], input 1 int32[…].
absl::Status CheckLogitsAndLabels(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 1));
  const Shape& logits = call.inputs[0].shape;
  const TensorType& labels = call.inputs[1];
  if (logits.rank() < 2) return absl::InvalidArgumentError("the logits must have rows");
  std::vector<int64_t> rows = logits.dims();
  rows.pop_back();
  if (logits.dim(logits.rank() - 1) < 1) {
    return absl::InvalidArgumentError("there must be at least one class");
  }
  if (labels.dtype != DType::kInt32 || labels.shape != Shape(std::move(rows))) {
    return absl::InvalidArgumentError("the labels must be int32, one per row of the logits");
  }
  return absl::OkStatus();
}

absl::StatusOr<Types> InferCrossEntropy(const OpCall& call) {
  RETURN_IF_ERROR(CheckLogitsAndLabels(call));
  return Types{kScalar, call.inputs[0]};
}

absl::Status CrossEntropyGradient(GradientCall& call) {
  if (call.outputs[1].valid()) {
    return absl::UnimplementedError("the probabilities have no gradient, only the loss has");
  }
  const Value probabilities{call.node.node, 1};
  call.gradients[0] = call.graph.Add("SparseSoftmaxCrossEntropyGrad", "",
                                     {probabilities, call.inputs[1], call.outputs[0]});
  return absl::OkStatus();
}

absl::StatusOr<Types> InferCrossEntropyGrad(const OpCall& call) {
  RETURN_IF_ERROR(CheckLogitsAndLabels(call));
  if (call.inputs[2] != kScalar) return absl::InvalidArgumentError("dloss must be a scalar");
  return Types{call.inputs[0]};
}

absl::StatusOr<Types> InferSquaredError(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 2));
  if (call.inputs[0].shape != call.inputs[1].shape) {
    return absl::InvalidArgumentError("predictions and targets must have one shape");
  }
  return Types{kScalar};
}

absl::Status SquaredErrorGradient(GradientCall& call) {
  const Value dx = call.graph.Add("MeanSquaredErrorGrad", "",
                                  {call.inputs[0], call.inputs[1], call.outputs[0]});
  call.gradients[0] = dx;
  if (call.wanted[1]) {
    call.gradients[1] = call.graph.Add("Scale", "", {dx}, {{"factor", -1.0}});
  }
  return absl::OkStatus();
}

absl::StatusOr<Types> InferSquaredErrorGrad(const OpCall& call) {
  RETURN_IF_ERROR(InferSquaredError(call).status());
  if (call.inputs[2] != kScalar) return absl::InvalidArgumentError("dloss must be a scalar");
  return Types{call.inputs[0]};
}

absl::StatusOr<Types> InferL2Loss(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 1));
  return Types{kScalar};
}

absl::Status L2LossGradient(GradientCall& call) {
  call.gradients[0] = call.graph.Add("L2LossGrad", "", {call.inputs[0], call.outputs[0]});
  return absl::OkStatus();
}

absl::Status L1LossGradient(GradientCall& call) {
  call.gradients[0] = call.graph.Add("L1LossGrad", "", {call.inputs[0], call.outputs[0]});
  return absl::OkStatus();
}

// The last input is the scalar, those before it are of one shape.
absl::StatusOr<Types> InferL2LossGrad(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, call.inputs.size()));
  if (call.inputs.back() != kScalar) return absl::InvalidArgumentError("dloss must be a scalar");
  if (call.inputs.size() == 3 && call.inputs[0] != call.inputs[1]) {
    return absl::InvalidArgumentError("a and x must be of one shape");
  }
  return Types{call.inputs[0]};
}

absl::StatusOr<Types> InferArgMax(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 1));
  const Shape& shape = call.inputs[0].shape;
  if (shape.rank() < 1 || shape.dim(shape.rank() - 1) < 1) {
    return absl::InvalidArgumentError("the last axis must have an element");
  }
  std::vector<int64_t> dims = shape.dims();
  dims.pop_back();
  return Types{{DType::kInt32, Shape(std::move(dims))}};
}

absl::StatusOr<Types> InferAccuracy(const OpCall& call) {
  RETURN_IF_ERROR(CheckLogitsAndLabels(call));
  return Types{kScalar};
}

}  // namespace

void AddLossOps(OpRegistry* ops) {
  MustAdd(ops, {.name = "SparseSoftmaxCrossEntropy",
                .inputs_min = 2,
                .inputs_max = 2,
                .infer = InferCrossEntropy,
                .gradient = CrossEntropyGradient,
                .cost = ElementwiseCost(kSoftmaxFlops)});
  MustAdd(ops, {.name = "SparseSoftmaxCrossEntropyGrad",
                .inputs_min = 3,
                .inputs_max = 3,
                .infer = InferCrossEntropyGrad,
                .cost = ElementwiseCost(2),
                .in_place_input = 0});
  // Made by fusion.h.
  MustAdd(ops, {.name = "SparseSoftmaxCrossEntropyAndGrad",
                .inputs_min = 2,
                .inputs_max = 2,
                .attributes = {{.name = "dloss", .default_value = 0.0, .required = true}},
                .infer = InferCrossEntropy,
                .cost = ElementwiseCost(kSoftmaxFlops + 2)});
  MustAdd(ops, {.name = "MeanSquaredError",
                .inputs_min = 2,
                .inputs_max = 2,
                .infer = InferSquaredError,
                .gradient = SquaredErrorGradient,
                .cost = ElementwiseCost(3)});
  MustAdd(ops, {.name = "MeanSquaredErrorGrad",
                .inputs_min = 3,
                .inputs_max = 3,
                .infer = InferSquaredErrorGrad,
                .cost = ElementwiseCost(2),
                .in_place_input = 0});
  MustAdd(ops, {.name = "L2Loss",
                .infer = InferL2Loss,
                .gradient = L2LossGradient,
                .cost = ElementwiseCost(2)});
  MustAdd(ops, {.name = "L2LossGrad",
                .inputs_min = 2,
                .inputs_max = 2,
                .infer = InferL2LossGrad,
                .cost = ElementwiseCost(1)});
  MustAdd(ops, {.name = "L2LossGradAdd",
                .inputs_min = 3,
                .inputs_max = 3,
                .infer = InferL2LossGrad,
                .cost = ElementwiseCost(2),
                .in_place_input = 0});
  MustAdd(ops, {.name = "L1Loss",
                .infer = InferL2Loss,
                .gradient = L1LossGradient,
                .cost = ElementwiseCost(2)});
  MustAdd(ops, {.name = "L1LossGrad",
                .inputs_min = 2,
                .inputs_max = 2,
                .infer = InferL2LossGrad,
                .cost = ElementwiseCost(1)});
  MustAdd(ops,
          {.name = "ArgMax", .infer = InferArgMax, .cost = ElementwiseCost(1)});
  MustAdd(ops, {.name = "Accuracy",
                .inputs_min = 2,
                .inputs_max = 2,
                .infer = InferAccuracy,
                .cost = ElementwiseCost(1)});
}

}  // namespace taas
