#include "trainer/graph/fusion.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

bool IsKept(std::span<const Value> kept, Value value) {
  return std::ranges::count(kept, value) > 0;
}

// The normalization that this Relu alone reads becomes both, in its place; the Relu's readers read
// it there.
void FuseNormRelu(std::vector<Node>& nodes, std::span<const Value> kept,
                  const std::function<bool(const Node&)>& can_run, Value relu) {
  const Node& of = nodes[static_cast<size_t>(relu.node)];
  const Value y = of.inputs[0];
  Node& norm = nodes[static_cast<size_t>(y.node)];
  if (norm.op != "BatchNorm" || y.output != 0 || norm.device != of.device) return;
  if (IsKept(kept, y) || IsKept(kept, relu)) return;
  int64_t readers = 0;  // The moments have others.
  for (const Node& node : nodes) readers += std::ranges::count(node.inputs, y);
  Node merged = norm;
  merged.op = "BatchNormRelu";
  if (readers != 1 || !can_run(merged)) return;
  norm = std::move(merged);
  for (Node& node : nodes) std::ranges::replace(node.inputs, relu, y);
}

// The gradient of such a one, which alone reads that of the Relu.
void FuseNormReluGrad(const std::vector<Node>& nodes, const Readers& readers, Node* grad) {
  const size_t relu_id = static_cast<size_t>(grad->inputs[0].node);
  const Node& relu = nodes[relu_id];
  if (relu.op != "ReluGrad" || readers[relu_id] != 1 || relu.device != grad->device) return;
  const Value y = relu.inputs[1];
  const Node& norm = nodes[static_cast<size_t>(y.node)];
  if (norm.op != "BatchNormRelu" || y.output != 0 || grad->inputs[3] != Value{y.node, 1}) return;
  grad->op = "BatchNormReluGrad";
  grad->inputs[0] = relu.inputs[0];
  grad->inputs.push_back(norm.inputs[2]);
}

}  // namespace

void FuseNodes(std::vector<Node>* nodes, std::span<const Value> kept,
               const std::function<bool(const Node&)>& can_run) {
  Readers readers(nodes->size(), 0);
  for (const Node& node : *nodes) {
    for (const Value input : node.inputs) ++readers[static_cast<size_t>(input.node)];
  }
  for (const Value value : kept) ++readers[static_cast<size_t>(value.node)];
  for (size_t id = 0; id < nodes->size(); ++id) {
    Node& node = (*nodes)[id];
    Node merged = node;
    if (node.op == "Relu") {
      FuseRelu(*nodes, readers, &merged);
      FuseNormRelu(*nodes, kept, can_run, {static_cast<NodeId>(id), 0});
    }
    if (node.op == "BatchNormGrad") FuseNormReluGrad(*nodes, readers, &merged);
    if (node.op == "ReluGrad") FusePool(*nodes, readers, &merged);
    if (node.op == "AddN") FuseL2(*nodes, readers, &merged);
    if (merged.op != node.op && can_run(merged)) node = std::move(merged);
  }
}

}  // namespace taas
