#include "trainer/graph/row_gradients.h"

#include <utility>
#include <vector>

namespace taas {

bool ListRows(std::span<const Node> nodes, Node* gradient, const ListRowsOptions& options) {
  Node listed = *gradient;
  if (gradient->op == "AddN") {
    listed.inputs.clear();
    for (const Value input : gradient->inputs) {
      const Node& part = nodes[static_cast<size_t>(input.node)];
      if (part.op != "EmbeddingGrad" || part.device != gradient->device) return false;
      listed.inputs.insert(listed.inputs.end(), part.inputs.begin(), part.inputs.end());
      listed.attributes = part.attributes;
    }
  } else if (gradient->op != "EmbeddingGrad") {
    return false;
  }
  listed.op = "EmbeddingRowsGrad";
  const OpDefinition* const op = options.ops.Find(listed.op);
  if (op == nullptr || !options.can_run(listed)) return false;
  std::vector<TensorType> inputs;
  for (const Value input : listed.inputs) {
    const Node& node = nodes[static_cast<size_t>(input.node)];
    inputs.push_back(node.outputs[static_cast<size_t>(input.output)]);
    inputs.back().shape = inputs.back().shape.WithBatch(options.batch);
  }
  auto outputs = op->infer({inputs, listed.attributes});
  if (!outputs.ok()) return false;
  listed.outputs = *std::move(outputs);
  *gradient = std::move(listed);
  return true;
}

}  // namespace taas
