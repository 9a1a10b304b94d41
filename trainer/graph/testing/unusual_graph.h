// A graph that no named model uses, for tests: two inputs, a branch, a variable used twice and
// three hidden layers. What trains this trains any graph.
//
//   left  -> hidden1 -+-> concat -> hidden2 (tanh) -+-> add -> hidden3 (relu) -> output -> loss
//   right -> hidden1 -+-> product -> branch --------+
//
// Both hidden1 are one layer: the same weights see both inputs.
//
// Ownership: values. Threads: any. Errors: none; the graph is valid (a test of its own says so).
//
//   UnusualGraph unusual = BuildUnusualGraph();
//   auto session = Session::Compile(CpuRuntime(), unusual.graph, {.loss = unusual.loss});
//   FillUnusualBatch(/*seed=*/step, session->get());

#ifndef TRAINER_GRAPH_TESTING_UNUSUAL_GRAPH_H_
#define TRAINER_GRAPH_TESTING_UNUSUAL_GRAPH_H_

#include <cstdint>
#include <string>

#include "trainer/graph/graph.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/cpu_runtime.h"

namespace taas {

struct UnusualGraph {
  Graph graph;
  std::string left = "left";        // Input, float32[batch, 6].
  std::string right = "right";      // Input, float32[batch, 6].
  std::string targets = "targets";  // Input, float32[batch, 1].
  std::string loss = "loss";
};

UnusualGraph BuildUnusualGraph();

// A batch of a task that can be learnt: the target is a smooth function of both inputs. The same
// seed gives the same batch.
void FillUnusualBatch(uint64_t seed, Session* session);

}  // namespace taas

#endif  // TRAINER_GRAPH_TESTING_UNUSUAL_GRAPH_H_
