// Merges into a product of matrices what one call of a library computes with it: BiasAdd of nothing
// but a MatMul becomes MatMulBias; the sum over the rows of a gradient, which is that of a bias,
// becomes output 1 of the product which makes the weights' gradient of the same rows.
//
// Runs between the merges of fusion.h and those of chain_fusion.h, and where there are kernels for
// such nodes, which a processor has not. BiasAddRelu stays beside its product: it is one pass
// already, and what a library makes of max(x, 0) need not keep a NaN
// (docs/design/0020-gpus.md). The node that is merged away keeps its place and becomes unreachable.
//
// Ownership: none. Threads: the caller's. Errors: none.
//
//   for (const auto& [from, to] : FuseProducts(&nodes, {.kept = fetched, .gradients = gradients}))

#ifndef TRAINER_GRAPH_PRODUCT_FUSION_H_
#define TRAINER_GRAPH_PRODUCT_FUSION_H_

#include <functional>
#include <map>
#include <vector>

#include "trainer/graph/graph.h"

namespace taas {

struct ProductFusion {
  // All that the session needs: what leads to none of them is left.
  std::vector<Value> kept;       // They stay where they are;
  std::vector<Value> gradients;  // these may move.
  std::vector<Value> updated;    // Variables to which ops of the graph write, and views of them.
  // Whether there is a kernel for the merged node.
  std::function<bool(const Node& merged)> can_run = [](const Node&) { return true; };
};

// Returns where values are now that have moved.
std::map<Value, Value> FuseProducts(std::vector<Node>* nodes, const ProductFusion& fusion);

}  // namespace taas

#endif  // TRAINER_GRAPH_PRODUCT_FUSION_H_
