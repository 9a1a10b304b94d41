// Makes the gradient of a table that is only looked up in list its rows: EmbeddingGrad, or the sum
// of several, becomes EmbeddingRowsGrad.
//
// Runs after differentiation, on the copy of the graph that a session compiles; nodes that are
// merged away keep their place and become unreachable. A table that is used in any other way (as
// the weights of a last layer, in a penalty) has a gradient of another op, which stays as it is.
//
// Ownership: none. Threads: the caller's. Errors: none.
//
//   if (ListRows(nodes, &nodes[gradient.node], {.ops = ops, .batch = 100, .can_run = can_run})) …

#ifndef TRAINER_GRAPH_ROW_GRADIENTS_H_
#define TRAINER_GRAPH_ROW_GRADIENTS_H_

#include <functional>
#include <span>

#include "trainer/graph/graph.h"
#include "trainer/graph/op_registry.h"

namespace taas {

struct ListRowsOptions {
  const OpRegistry& ops;
  int64_t batch = 1;
  // Whether there is a kernel for the changed node.
  std::function<bool(const Node&)> can_run;
};

// `gradient` is one of `nodes`, and the gradient of a whole variable. Whether it lists its rows
// now: then its outputs are those of EmbeddingRowsGrad (ops.h).
bool ListRows(std::span<const Node> nodes, Node* gradient, const ListRowsOptions& options);

}  // namespace taas

#endif  // TRAINER_GRAPH_ROW_GRADIENTS_H_
