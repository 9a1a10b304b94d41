#include "trainer/ring/epoch.h"

#include <algorithm>

namespace taas {

std::vector<Epoch> FormEpoch(uint32_t number, const std::vector<Seat>& seats) {
  const auto step = [](const Seat& seat) { return seat.standing.step; };
  const auto most = std::ranges::max_element(seats, {}, step);
  Epoch epoch{.number = number, .root = static_cast<int>(most - seats.begin())};
  for (const Seat& seat : seats) epoch.addresses.push_back(seat.address);
  if (most->standing.step == kNoModel) {
    epoch.start.step = kUntrained;
  } else {
    epoch.start = most->standing;
    for (size_t rank = 0; rank < seats.size(); ++rank) {
      if (seats[rank].standing != epoch.start) epoch.receivers.push_back(static_cast<int>(rank));
    }
  }
  std::vector<Epoch> epochs(seats.size(), epoch);
  for (size_t rank = 0; rank < epochs.size(); ++rank) epochs[rank].rank = static_cast<int>(rank);
  return epochs;
}

}  // namespace taas
