#include "trainer/graph/memory_conflicts.h"

#include <algorithm>

namespace taas {
namespace {

bool Conflict(const MemoryAccess& a, const MemoryAccess& b) {
  return a.space == b.space && (a.writes || b.writes) &&
         std::max(a.begin, b.begin) < std::min(a.end, b.end);
}

bool Conflict(std::span<const MemoryAccess> a, std::span<const MemoryAccess> b) {
  return std::ranges::any_of(a, [&](const MemoryAccess& one) {
    return std::ranges::any_of(b, [&](const MemoryAccess& other) { return Conflict(one, other); });
  });
}

}  // namespace

StepOrder OrderOf(std::span<const std::vector<MemoryAccess>> steps) {
  StepOrder order{.waits = std::vector<int>(steps.size(), 0),
                  .followers = std::vector<std::vector<int>>(steps.size())};
  // Per step: whom it waits for, also through others.
  std::vector<std::vector<bool>> before(steps.size(), std::vector<bool>(steps.size(), false));
  for (size_t later = 0; later < steps.size(); ++later) {
    // From the nearest back: what waits through a near one is found before it is looked at.
    for (size_t earlier = later; earlier-- > 0;) {
      if (before[later][earlier] || !Conflict(steps[earlier], steps[later])) continue;
      ++order.waits[later];
      order.followers[earlier].push_back(static_cast<int>(later));
      before[later][earlier] = true;
      for (size_t i = 0; i < earlier; ++i) {
        if (before[earlier][i]) before[later][i] = true;
      }
    }
  }
  return order;
}

}  // namespace taas
