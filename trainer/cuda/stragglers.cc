#include "trainer/cuda/stragglers.h"

#include <algorithm>

namespace taas::cuda {

std::optional<Stragglers::Found> Stragglers::Look(std::span<const RankPosition> seen,
                                                  Clock::Time now) {
  const RankPosition first = *std::ranges::min_element(seen);
  const RankPosition last = *std::ranges::max_element(seen);
  bool too_long = false;
  for (size_t rank = 0; rank < seen.size(); ++rank) {
    Held& held = held_[rank];
    if (seen[rank] == last && last.stage != RankPosition::Stage::kWaits) {
      held.since.reset();
    } else if (!held.since || held.at != seen[rank]) {
      held = {.at = seen[rank], .since = now};
    } else {
      too_long = too_long || now - *held.since > patience_;
    }
  }
  if (!too_long) return std::nullopt;
  Found found{.stage = first.stage};
  for (size_t rank = 0; rank < seen.size(); ++rank) {
    const bool behind = seen[rank] == first && first != last;
    (behind ? found.behind : found.ahead).push_back(rank);
  }
  return found;
}

}  // namespace taas::cuda
