// Merges chains of elementwise ops into one node "Fused" (fused_program.h), whose kernel passes
// over memory once.
//
// An op joins the one that reads it when nobody else does, when both results have one type and lie
// on one device, and when the result is not kept. Chains may branch: Mul(Tanh(a), Sigmoid(b)) is
// one. Identity vanishes; what remains of a chain as a single op stays that op. An op that reads a
// variable which the graph updates never moves: the merged node would read it after the update.
//
// Runs after the merges of fusion.h, which have better kernels of their own. The merged node takes
// the place and the name of the last op.
//
// Ownership: none. Threads: the caller's. Errors: none.
//
//   FuseChains(&nodes, {.kept = fetched, .updated = variables});

#ifndef TRAINER_GRAPH_CHAIN_FUSION_H_
#define TRAINER_GRAPH_CHAIN_FUSION_H_

#include <functional>
#include <vector>

#include "trainer/graph/graph.h"

namespace taas {

struct ChainFusion {
  std::vector<Value> kept;     // All that the session needs: what leads to none of them is left.
  std::vector<Value> updated;  // Variables to which ops of the graph write, and views of them.
  // Whether there is a kernel for the merged node where the last op lies.
  std::function<bool(const Node& merged)> can_run = [](const Node&) { return true; };
};

void FuseChains(std::vector<Node>* nodes, const ChainFusion& fusion);

}  // namespace taas

#endif  // TRAINER_GRAPH_CHAIN_FUSION_H_
