// Which steps must wait for which, so that steps which run at the same time never touch the same
// bytes unless both only read them.
//
// It looks at memory alone: of two steps that touch the same bytes, and of which one writes, the
// later waits for the earlier. That covers at once the edges of the graph (a reader waits for the
// writer), the reuse of a buffer by lifetime (the next writer waits for the last readers), an op
// that writes over its input, scratch memory, and updates of variables. Every order in which each
// step waits for those that it must gives the bits of the order in which they are listed.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const StepOrder order = OrderOf({{Write(0, 0, 64)}, {Read(0, 0, 64), Write(0, 64, 128)}});
//   order.followers[0];  // {1}

#ifndef TRAINER_GRAPH_MEMORY_CONFLICTS_H_
#define TRAINER_GRAPH_MEMORY_CONFLICTS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace taas {

// Bytes that a step touches. Two spaces never overlap: the arena is one, each buffer outside of it
// another.
struct MemoryAccess {
  int space = 0;
  size_t begin = 0;
  size_t end = 0;
  bool writes = false;
};

struct StepOrder {
  std::vector<int> waits;                   // Per step: for how many others.
  std::vector<std::vector<int>> followers;  // Per step: those that wait for it, all later ones.
};

// A step that waits for another through a third has no edge of its own to it.
StepOrder OrderOf(std::span<const std::vector<MemoryAccess>> steps);

}  // namespace taas

#endif  // TRAINER_GRAPH_MEMORY_CONFLICTS_H_
