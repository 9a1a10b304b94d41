// Which ranks of a collective have stayed behind the others too long: what a watch over them
// decides, without devices and clocks.
//
// All ranks have equal work, so one that is behind is so for a moment; and what all have come to
// ends by itself. Long is only what stays as it was.
//
// Ownership: a value. Threads: one at a time. Errors: none.
//
//   Stragglers stragglers(/*ranks=*/2, /*patience=*/60s);
//   if (const auto found = stragglers.Look(positions, clock.Now())) Blame(found->behind);

#ifndef TRAINER_CUDA_STRAGGLERS_H_
#define TRAINER_CUDA_STRAGGLERS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "operator/base/clock.h"

namespace taas::cuda {

// How far a rank is: in the order in which it comes there.
struct RankPosition {
  enum class Stage : uint8_t {
    kBegun,   // A run, in which it has not come to the mean.
    kWaits,   // In the mean.
    kPassed,  // Behind it.
    kEnded,   // The run has.
  };
  int64_t round = 0;
  Stage stage = Stage::kEnded;

  auto operator<=>(const RankPosition&) const = default;
};

class Stragglers {
 public:
  struct Found {
    std::vector<size_t> behind;  // Those that are furthest behind; none: all wait for the mean.
    std::vector<size_t> ahead;
    RankPosition::Stage stage = RankPosition::Stage::kEnded;  // Of those behind, or of all.
  };

  Stragglers(size_t ranks, Clock::Duration patience) : patience_(patience), held_(ranks) {}

  // `seen` are the positions of all ranks now; `now` never goes back.
  std::optional<Found> Look(std::span<const RankPosition> seen, Clock::Time now);

 private:
  // A rank that others have to wait for, or that waits: where, and since when it is seen there.
  struct Held {
    RankPosition at{};
    std::optional<Clock::Time> since{};
  };

  const Clock::Duration patience_;
  std::vector<Held> held_;
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_STRAGGLERS_H_
