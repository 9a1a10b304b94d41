#include "trainer/ring/ring_wire.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "operator/base/status.h"

namespace taas {

wire::RingStanding ToWire(const Standing& standing) {
  wire::RingStanding wire;
  wire.set_step(standing.step);
  wire.set_committed_below(standing.committed.watermark());
  for (const int64_t batch : standing.committed.above()) wire.add_committed(batch);
  wire.set_made_in(standing.made_in);
  return wire;
}

absl::StatusOr<Standing> FromWire(const wire::RingStanding& standing) {
  if (standing.step() < kNoModel || standing.committed_below() < 0 ||
      standing.committed_size() > kCommittedAboveMax ||
      std::ranges::any_of(standing.committed(), [](int64_t batch) { return batch < 0; })) {
    return absl::InvalidArgumentError("where a rank stands makes no sense: step " +
                                      std::to_string(standing.step()));
  }
  const std::vector<int64_t> above(standing.committed().begin(), standing.committed().end());
  return Standing{standing.step(), CommittedSet(standing.committed_below(), above),
                  standing.made_in()};
}

wire::RingEpoch ToWire(const Epoch& epoch) {
  wire::RingEpoch wire;
  wire.set_number(epoch.number);
  wire.set_rank(epoch.rank);
  for (const std::string& address : epoch.addresses) wire.add_addresses(address);
  *wire.mutable_start() = ToWire(epoch.start);
  wire.set_root(epoch.root);
  for (const int receiver : epoch.receivers) wire.add_receivers(receiver);
  return wire;
}

absl::StatusOr<Epoch> FromWire(const wire::RingEpoch& epoch) {
  const auto is_rank = [&](int rank) { return rank >= 0 && rank < epoch.addresses_size(); };
  if (!is_rank(epoch.rank()) || !is_rank(epoch.root()) ||
      !std::ranges::all_of(epoch.receivers(), is_rank)) {
    return absl::InvalidArgumentError("epoch " + std::to_string(epoch.number()) +
                                      " has ranks that it does not name");
  }
  ASSIGN_OR_RETURN(Standing start, FromWire(epoch.start()));
  return Epoch{.number = epoch.number(),
               .rank = epoch.rank(),
               .addresses = {epoch.addresses().begin(), epoch.addresses().end()},
               .start = std::move(start),
               .root = epoch.root(),
               .receivers = {epoch.receivers().begin(), epoch.receivers().end()}};
}

}  // namespace taas
