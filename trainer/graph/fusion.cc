#include "trainer/graph/fusion.h"

namespace taas {

void FuseNodes(std::vector<Node>* nodes, std::span<const Value> kept) {
  std::vector<int> readers(nodes->size(), 0);
  for (const Node& node : *nodes) {
    for (const Value input : node.inputs) ++readers[static_cast<size_t>(input.node)];
  }
  for (const Value value : kept) ++readers[static_cast<size_t>(value.node)];
  for (Node& node : *nodes) {
    if (node.op != "Relu") continue;
    const Node& source = (*nodes)[static_cast<size_t>(node.inputs[0].node)];
    const bool only_reader = readers[static_cast<size_t>(node.inputs[0].node)] == 1;
    if (source.op != "BiasAdd" || !only_reader || source.device != node.device) continue;
    node.op = "BiasAddRelu";
    node.inputs = source.inputs;
  }
}

}  // namespace taas
