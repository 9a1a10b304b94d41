// What the time of a rank goes to, as shares of it: for people who ask why a training by all-reduce
// is slow.
//
// All ranks of an epoch make a step in the same time. Whoever is slow computes for most of it, and
// the others wait for its part. What the exchange takes beside that is the network's doing: as far
// as it goes on while the rank computes it is hidden, and costs the step nothing.
//
// Ownership: value types. Threads: one at a time. Errors: none.
//
//   if (const auto shares = meter.Add(times)) board.SetShares(*shares);

#ifndef TRAINER_RING_SHARE_METER_H_
#define TRAINER_RING_SHARE_METER_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "operator/base/clock.h"
#include "trainer/status/status_board.h"

namespace taas {

// Of one step.
struct StepTimes {
  Clock::Duration compute{};   // The gradients of its batch.
  Clock::Duration wait{};      // For the slowest of the others, after that.
  Clock::Duration exchange{};  // Of gradients, after that.
  Clock::Duration hidden{};    // Of gradients, beside `compute`.
  Clock::Duration all{};       // With the update, and what follows it.
  int64_t bytes = 0;           // That this rank sends.
};

class ShareMeter {
 public:
  // Of so much time each; a status page is read every few seconds.
  static constexpr Clock::Duration kOver = std::chrono::seconds(1);

  // The shares of the steps since the last that it gave, once these took kOver.
  std::optional<RankShares> Add(const StepTimes& step);
  // What was counted is of an epoch that is over.
  void StartOver() { sum_ = {}, steps_ = 0; }

 private:
  StepTimes sum_;
  int64_t steps_ = 0;
};

}  // namespace taas

#endif  // TRAINER_RING_SHARE_METER_H_
