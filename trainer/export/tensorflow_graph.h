// A graph of this tree in TensorFlow's ops: what a saved model computes.
//
// Translated: the leaves, MatMul, elementwise arithmetic, BiasAdd, activations, shapes, reductions,
// convolution, pooling, normalization with stored moments, ArgMax; Dropout becomes Identity, since
// what is saved is no longer trained. Losses, gradients and normalization with the batch's moments
// are not; nothing that a prediction needs depends on them.
//
// Ownership: values. Threads: any. Errors: Unimplemented, naming the node and its op.
//
//   tf::GraphDef out;
//   NodeAdder nodes(&out);
//   ASSIGN_OR_RETURN(const std::string logits, Translate(graph, {value}, &nodes));

#ifndef TRAINER_EXPORT_TENSORFLOW_GRAPH_H_
#define TRAINER_EXPORT_TENSORFLOW_GRAPH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer/export/graph_nodes.h"
#include "trainer/formats/tensorflow.pb.h"
#include "trainer/graph/graph.h"

namespace taas {

// What is done to an input (float32[batch, n]) before the graph gets it: input * scale + offset.
struct InputScale {
  std::string input;  // Its name; empty: there is none.
  std::vector<float> scale, offset;  // n each.
};

// Adds what `ends` depend on, in order, and returns the tensors that stand for the ends, of an
// input what is fed. Each variable V becomes a resource V that is read by V/Read/ReadVariableOp and
// set by V/Assign.
absl::StatusOr<std::vector<std::string>> Translate(const Graph& graph,
                                                   const std::vector<Value>& ends,
                                                   NodeAdder* nodes,
                                                   const InputScale& scaled = {});

}  // namespace taas

#endif  // TRAINER_EXPORT_TENSORFLOW_GRAPH_H_
