// Merges ops that one kernel computes in one pass over memory: BiasAdd followed by nothing but
// Relu becomes BiasAddRelu; the gradient of an L2 loss that is only added to another gradient
// becomes L2LossGradAdd; ReluGrad of nothing but the MaxPoolGrad of the same Relu becomes
// MaxPoolReluGrad; BatchNorm that nothing but a Relu reads becomes BatchNormRelu, and its gradient
// with that of the Relu BatchNormReluGrad: x says again what the Relu let pass, so that no tensor
// is read for it; SparseSoftmaxCrossEntropy whose probabilities nothing but its gradient reads,
// for a constant dloss, becomes SparseSoftmaxCrossEntropyAndGrad. The last two have kernels on
// GPUs only: a processor gains nothing by them.
//
// Runs after differentiation, on the copy of the graph that a session compiles; the node that is
// merged away keeps its place and becomes unreachable. Values named in `kept` are not merged away,
// and nothing is merged for which there is no kernel.
//
// Ownership: none. Threads: the caller's. Errors: none.
//
//   std::vector<Node> nodes = graph.nodes();
//   FuseNodes(&nodes, fetched);

#ifndef TRAINER_GRAPH_FUSION_H_
#define TRAINER_GRAPH_FUSION_H_

#include <functional>
#include <span>
#include <vector>

#include "trainer/graph/graph.h"

namespace taas {

// `can_run`: whether there is a kernel for the merged node; `updated`: variables to which ops of
// the graph write, and views of them.
void FuseNodes(
    std::vector<Node>* nodes, std::span<const Value> kept,
    const std::function<bool(const Node&)>& can_run = [](const Node&) { return true; },
    std::span<const Value> updated = {});

}  // namespace taas

#endif  // TRAINER_GRAPH_FUSION_H_
