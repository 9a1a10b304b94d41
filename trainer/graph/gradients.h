// Reverse-mode differentiation: adds to a graph the nodes that compute the gradients of a loss.
//
// Gradients that meet (a value used twice, a shared variable) are summed; a variable on which the
// loss does not depend gets zeros. Nodes whose result nobody needs (the gradient of the input
// data) are not made. The nodes lie on the device of the op that they differentiate.
//
// Ownership: none. Threads: the graph's. Errors: InvalidArgument when the loss is not a float
// scalar, when an op between a variable and the loss has no gradient, or when the graph is in
// error.
//
//   ASSIGN_OR_RETURN(std::vector<Value> gradients, AddGradients(&graph, loss, graph.Variables()));

#ifndef TRAINER_GRAPH_GRADIENTS_H_
#define TRAINER_GRAPH_GRADIENTS_H_

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer/graph/graph.h"

namespace taas {

// One gradient per element of `with_respect_to`, of the same type: of `scale` times the loss.
absl::StatusOr<std::vector<Value>> AddGradients(Graph* graph, Value loss,
                                                std::span<const Value> with_respect_to,
                                                float scale = 1);

}  // namespace taas

#endif  // TRAINER_GRAPH_GRADIENTS_H_
