// Batch normalization (Ioffe and Szegedy 2015) over the last axis, and dropout (Srivastava et al.
// 2014).

#include <string>
#include <utility>

#include "operator/base/status.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/ops.h"

namespace taas {
namespace {

using Types = std::vector<TensorType>;

// Inputs `from` to the last are vectors, one number per channel of input 0.
absl::StatusOr<TensorType> CheckChannels(const OpCall& call, size_t from) {
  RETURN_IF_ERROR(RequireFloat(call, call.inputs.size()));
  const Shape& x = call.inputs[0].shape;
  if (x.rank() < 2) return absl::InvalidArgumentError("x must have rows and channels");
  const TensorType channels{DType::kFloat32, Shape({x.dim(x.rank() - 1)})};
  for (size_t i = from; i < call.inputs.size(); ++i) {
    if (call.inputs[i] == channels) continue;
    return absl::InvalidArgumentError("input " + std::to_string(i) + " must be " +
                                      channels.ToString() + ", one number per channel");
  }
  return channels;
}

absl::StatusOr<Types> InferBatchNorm(const OpCall& call) {
  ASSIGN_OR_RETURN(const TensorType channels, CheckChannels(call, 1));
  return Types{call.inputs[0], channels, channels, channels};
}

absl::Status BatchNormGradient(GradientCall& call) {
  for (size_t i = 1; i < call.outputs.size(); ++i) {
    if (!call.outputs[i].valid()) continue;
    return absl::UnimplementedError("the moments have no gradient, only output 0 has");
  }
  const NodeId node = call.node.node;
  const Value dx = call.graph.Add(
      "BatchNormGrad", "",
      {call.outputs[0], call.inputs[0], call.inputs[1], Value{node, 1}, Value{node, 2}},
      {{"epsilon", call.attributes().Number("epsilon")}});
  for (int i = 0; i < 3; ++i) call.gradients[static_cast<size_t>(i)] = {dx.node, i};
  return absl::OkStatus();
}

absl::StatusOr<Types> InferBatchNormGrad(const OpCall& call) {
  if (call.inputs[0] != call.inputs[1]) {
    return absl::InvalidArgumentError("dy and x must be of one type");
  }
  ASSIGN_OR_RETURN(const TensorType channels, CheckChannels(call, 2));
  return Types{call.inputs[1], channels, channels};
}

absl::StatusOr<Types> InferBatchNormInference(const OpCall& call) {
  RETURN_IF_ERROR(CheckChannels(call, 1).status());
  return Types{call.inputs[0]};
}

absl::StatusOr<Types> InferDropout(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, 1));
  const double rate = call.attributes.Number("rate");
  if (!(rate >= 0 && rate < 1)) {
    return absl::InvalidArgumentError("the rate must be at least 0 and less than 1, is " +
                                      std::to_string(rate));
  }
  return Types{call.inputs[0]};
}

// Linear in x: the same op, which drops the same elements.
absl::Status DropoutGradient(GradientCall& call) {
  const Attributes& attributes = call.attributes();
  const std::string& given = attributes.Text("stream");
  const std::string stream = given.empty() ? call.graph.node(call.node).name : given;
  call.gradients[0] = call.graph.Add("Dropout", "", {call.outputs[0]},
                                     {{"rate", attributes.Number("rate")}, {"stream", stream}});
  return absl::OkStatus();
}

}  // namespace

void AddNormOps(OpRegistry* ops) {
  const AttributeSpec epsilon{.name = "epsilon", .default_value = 1e-3};
  MustAdd(ops, {.name = "BatchNorm",
                .inputs_min = 3,
                .inputs_max = 3,
                .attributes = {epsilon},
                .infer = InferBatchNorm,
                .gradient = BatchNormGradient,
                .cost = ElementwiseCost(7)});
  MustAdd(ops, {.name = "BatchNormGrad",
                .inputs_min = 5,
                .inputs_max = 5,
                .attributes = {epsilon},
                .infer = InferBatchNormGrad,
                .cost = ElementwiseCost(9)});
  // Made by fusion.h.
  MustAdd(ops, {.name = "BatchNormRelu",
                .inputs_min = 3,
                .inputs_max = 3,
                .attributes = {epsilon},
                .infer = InferBatchNorm,
                .cost = ElementwiseCost(8)});
  MustAdd(ops, {.name = "BatchNormReluGrad",
                .inputs_min = 6,
                .inputs_max = 6,
                .attributes = {epsilon},
                .infer = InferBatchNormGrad,
                .cost = ElementwiseCost(12)});
  MustAdd(ops, {.name = "BatchNormInference",
                .inputs_min = 5,
                .inputs_max = 5,
                .attributes = {epsilon},
                .infer = InferBatchNormInference,
                .cost = ElementwiseCost(2)});
  MustAdd(ops, {.name = "MovingAverage",
                .inputs_min = 2,
                .inputs_max = 2,
                .attributes = {{.name = "decay", .default_value = 0.0, .required = true}},
                .infer = AllEqual,
                .cost = ElementwiseCost(3),
                .in_place_input = 0});
  MustAdd(ops, {.name = "Dropout",
                .attributes = {{.name = "rate", .default_value = 0.0, .required = true},
                               {.name = "stream", .default_value = std::string()}},
                .infer = InferDropout,
                .gradient = DropoutGradient,
                .cost = ElementwiseCost(10),
                .in_place_input = 0});
}

}  // namespace taas
