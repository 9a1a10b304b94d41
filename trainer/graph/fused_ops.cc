// The op of merged chains. It has no gradient: chains are merged after differentiation.

#include <string>

#include "operator/base/status.h"
#include "trainer/graph/fused_program.h"
#include "trainer/graph/ops.h"

namespace taas {
namespace {

absl::StatusOr<std::vector<TensorType>> InferFused(const OpCall& call) {
  RETURN_IF_ERROR(RequireFloat(call, call.inputs.size()));
  RETURN_IF_ERROR(Decode(call.attributes, call.inputs.size()).status());
  return std::vector<TensorType>{call.inputs[0]};
}

OpCost FusedCost(const OpCall& call, std::span<const TensorType> outputs) {
  OpCost cost = ElementwiseCost(0)(call, outputs);
  const auto program = Decode(call.attributes, call.inputs.size());
  if (!program.ok()) return cost;
  for (const FusedInstruction& instruction : *program) {
    cost.flops += FlopsOf(instruction.code) * static_cast<double>(outputs[0].shape.count());
  }
  return cost;
}

}  // namespace

void AddFusedOps(OpRegistry* ops) {
  MustAdd(ops, {.name = "Fused",
                .inputs_min = 1,
                .inputs_max = OpDefinition::kVariadic,
                .attributes = {{.name = "program",
                                .default_value = std::vector<int64_t>(),
                                .required = true},
                               {.name = "ops", .default_value = std::string()}},
                .infer = InferFused,
                .cost = FusedCost,
                .in_place_input = 0});
}

}  // namespace taas
