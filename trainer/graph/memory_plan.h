// Where each intermediate tensor lies in one arena, so that tensors that are never alive together
// share bytes.
//
// Largest first; each takes the lowest gap that fits between the tensors alive with it that are
// placed already. The result is not always optimal, and never worse than no sharing.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const MemoryPlan plan = PlanMemory({{.bytes = 4096, .first = 0, .last = 2}, …}, 64);
//   float* x = arena + plan.offsets[0];

#ifndef TRAINER_GRAPH_MEMORY_PLAN_H_
#define TRAINER_GRAPH_MEMORY_PLAN_H_

#include <cstddef>
#include <span>
#include <vector>

namespace taas {

struct Lifetime {
  size_t bytes = 0;
  int first = 0;  // The step that writes it.
  int last = 0;   // The last step that reads it, at or after `first`.
};

struct MemoryPlan {
  std::vector<size_t> offsets;  // Multiples of the alignment.
  size_t bytes = 0;
};

// `alignment` is the device's.
MemoryPlan PlanMemory(std::span<const Lifetime> tensors, size_t alignment);

}  // namespace taas

#endif  // TRAINER_GRAPH_MEMORY_PLAN_H_
