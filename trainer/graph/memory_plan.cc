#include "trainer/graph/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace taas {
namespace {

size_t RoundUp(size_t bytes, size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

bool AliveTogether(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

MemoryPlan PlanMemory(std::span<const Lifetime> tensors, size_t alignment) {
  MemoryPlan plan;
  plan.offsets.resize(tensors.size());
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, [&](size_t a, size_t b) { return tensors[a].bytes > tensors[b].bytes; });

  std::vector<size_t> placed;  // By offset.
  for (const size_t tensor : order) {
    const size_t bytes = RoundUp(tensors[tensor].bytes, alignment);
    size_t offset = 0;
    for (const size_t other : placed) {
      if (!AliveTogether(tensors[tensor], tensors[other])) continue;
      if (plan.offsets[other] >= offset + bytes) break;
      offset = std::max(offset, plan.offsets[other] + RoundUp(tensors[other].bytes, alignment));
    }
    plan.offsets[tensor] = offset;
    plan.bytes = std::max(plan.bytes, offset + bytes);
    const auto at = std::ranges::upper_bound(placed, offset, {},
                                             [&](size_t other) { return plan.offsets[other]; });
    placed.insert(at, tensor);
  }
  return plan;
}

}  // namespace taas
