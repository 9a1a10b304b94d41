// A compiled graph for people: a table of its ops in the order of execution with what the memory
// plan came to, or a drawing by Graphviz.
//
// Ownership: values. Threads: the session's. Errors: none.
//
//   std::fputs(GraphText(*session, RunKind::kForward).c_str(), stdout);

#ifndef TRAINER_GRAPH_GRAPH_TEXT_H_
#define TRAINER_GRAPH_GRAPH_TEXT_H_

#include <string>

#include "trainer/graph/session.h"

namespace taas {

// One line per op that runs: number, name, op, output, device, flops, bytes; then the sums, and
// the bytes of variables, gradients, inputs and of the arena, which is the peak of all in between.
std::string GraphText(const Session& session, RunKind kind);

// In the language of Graphviz' `dot`: boxes are ops, ellipses leaves.
std::string GraphDot(const Session& session, RunKind kind);

}  // namespace taas

#endif  // TRAINER_GRAPH_GRAPH_TEXT_H_
