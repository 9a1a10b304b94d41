#include "trainer/graph/fusion.h"

#include <utility>

namespace taas {

namespace {

using Readers = std::vector<int>;  // Of each node.

// BiasAdd, read by nothing but Relu.
void FuseRelu(const std::vector<Node>& nodes, const Readers& readers, Node* relu) {
  const size_t source_id = static_cast<size_t>(relu->inputs[0].node);
  const Node& source = nodes[source_id];
  if (source.op != "BiasAdd" || readers[source_id] != 1 || source.device != relu->device) return;
  relu->op = "BiasAddRelu";
  relu->inputs = source.inputs;
}

// The gradient of an L2 loss, read by nothing but its sum with another gradient.
void FuseL2(const std::vector<Node>& nodes, const Readers& readers, Node* sum) {
  if (sum->inputs.size() != 2) return;
  for (size_t i = 0; i < 2; ++i) {
    const size_t part_id = static_cast<size_t>(sum->inputs[i].node);
    const Node& part = nodes[part_id];
    if (part.op != "L2LossGrad" || readers[part_id] != 1 || part.device != sum->device) continue;
    sum->op = "L2LossGradAdd";
    sum->inputs = {sum->inputs[1 - i], part.inputs[0], part.inputs[1]};
    return;
  }
}

// The gradient of max pooling, read by nothing but that of the Relu before the pooling.
void FusePool(const std::vector<Node>& nodes, const Readers& readers, Node* relu) {
  const size_t pool_id = static_cast<size_t>(relu->inputs[0].node);
  const Node& pool = nodes[pool_id];
  if (pool.op != "MaxPoolGrad" || readers[pool_id] != 1 || pool.device != relu->device) return;
  if (pool.inputs[1] != relu->inputs[1]) return;
  relu->op = "MaxPoolReluGrad";
  relu->inputs = pool.inputs;
  relu->attributes = pool.attributes;
}

}  // namespace

void FuseNodes(std::vector<Node>* nodes, std::span<const Value> kept,
               const std::function<bool(const Node&)>& can_run) {
  Readers readers(nodes->size(), 0);
  for (const Node& node : *nodes) {
    for (const Value input : node.inputs) ++readers[static_cast<size_t>(input.node)];
  }
  for (const Value value : kept) ++readers[static_cast<size_t>(value.node)];
  for (Node& node : *nodes) {
    Node merged = node;
    if (node.op == "Relu") FuseRelu(*nodes, readers, &merged);
    if (node.op == "ReluGrad") FusePool(*nodes, readers, &merged);
    if (node.op == "AddN") FuseL2(*nodes, readers, &merged);
    if (merged.op != node.op && can_run(merged)) node = std::move(merged);
  }
}

}  // namespace taas
