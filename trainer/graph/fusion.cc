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

// How many inputs of nodes are `value`: of another output of its node there may be more.
int64_t ReadersOf(const std::vector<Node>& nodes, Value value) {
  int64_t readers = 0;
  for (const Node& node : nodes) readers += std::ranges::count(node.inputs, value);
  return readers;
}

// What the functions below that merge a node into an earlier one have.
struct Fusion {
  std::vector<Node>& nodes;
  std::span<const Value> kept;
  const std::function<bool(const Node&)>& can_run;

  Node& At(Value value) const { return nodes[static_cast<size_t>(value.node)]; }

  // The node that makes `from` becomes `merged`; who reads `gone`, which alone reads `from`, reads
  // `from` instead.
  void Merge(Value from, Value gone, Node merged) const {
    const bool kept_one =
        std::ranges::count(kept, from) > 0 || std::ranges::count(kept, gone) > 0;
    if (kept_one || At(from).device != At(gone).device || ReadersOf(nodes, from) != 1) return;
    if (!can_run(merged)) return;
    At(from) = std::move(merged);
    for (Node& node : nodes) std::ranges::replace(node.inputs, gone, from);
  }
};

// The normalization that this Relu alone reads.
void FuseNormRelu(const Fusion& fusion, Value relu) {
  const Value y = fusion.At(relu).inputs[0];
  if (fusion.At(y).op != "BatchNorm" || y.output != 0) return;
  Node merged = fusion.At(y);
  merged.op = "BatchNormRelu";
  fusion.Merge(y, relu, std::move(merged));
}

// The loss whose probabilities this gradient alone reads.
void FuseLossGrad(const Fusion& fusion, Value grad) {
  const Node& of = fusion.At(grad);
  const Value probabilities = of.inputs[0];
  const Node& dloss = fusion.At(of.inputs[2]);
  Node merged = fusion.At(probabilities);
  if (merged.op != "SparseSoftmaxCrossEntropy" || probabilities.output != 1) return;
  if (dloss.op != "Constant" || merged.inputs[1] != of.inputs[1]) return;
  merged.op = "SparseSoftmaxCrossEntropyAndGrad";
  merged.attributes.Set("dloss", dloss.attributes.Number("value"));
  fusion.Merge(probabilities, grad, std::move(merged));
}

// The gradient of such a one, which alone reads that of the Relu. It reads the offset again, which
// must still be what it was.
void FuseNormReluGrad(const std::vector<Node>& nodes, const Readers& readers,
                      std::span<const Value> updated, Node* grad) {
  const size_t relu_id = static_cast<size_t>(grad->inputs[0].node);
  const Node& relu = nodes[relu_id];
  if (relu.op != "ReluGrad" || readers[relu_id] != 1 || relu.device != grad->device) return;
  const Value y = relu.inputs[1];
  const Node& norm = nodes[static_cast<size_t>(y.node)];
  if (norm.op != "BatchNormRelu" || y.output != 0 || norm.device != grad->device) return;
  const std::vector<Value> of_norm = {grad->inputs[0], norm.inputs[0], norm.inputs[1],
                                      {y.node, 1}, {y.node, 2}};
  const bool same_epsilon =
      norm.attributes.Number("epsilon") == grad->attributes.Number("epsilon");
  if (grad->inputs != of_norm || !same_epsilon) return;
  if (std::ranges::count(updated, norm.inputs[2]) > 0) return;
  grad->op = "BatchNormReluGrad";
  grad->inputs[0] = relu.inputs[0];
  grad->inputs.push_back(norm.inputs[2]);
}

}  // namespace

void FuseNodes(std::vector<Node>* nodes, std::span<const Value> kept,
               const std::function<bool(const Node&)>& can_run,
               std::span<const Value> updated) {
  Readers readers(nodes->size(), 0);
  for (const Node& node : *nodes) {
    for (const Value input : node.inputs) ++readers[static_cast<size_t>(input.node)];
  }
  for (const Value value : kept) ++readers[static_cast<size_t>(value.node)];
  const Fusion fusion{*nodes, kept, can_run};
  for (size_t id = 0; id < nodes->size(); ++id) {
    const Value value{static_cast<NodeId>(id), 0};
    Node& node = (*nodes)[id];
    Node merged = node;
    if (node.op == "Relu") {
      FuseRelu(*nodes, readers, &merged);
      FuseNormRelu(fusion, value);
    }
    if (node.op == "SparseSoftmaxCrossEntropyGrad") FuseLossGrad(fusion, value);
    if (node.op == "BatchNormGrad") FuseNormReluGrad(*nodes, readers, updated, &merged);
    if (node.op == "ReluGrad") FusePool(*nodes, readers, &merged);
    if (node.op == "AddN") FuseL2(*nodes, readers, &merged);
    if (merged.op != node.op && can_run(merged)) node = std::move(merged);
  }
}

}  // namespace taas
