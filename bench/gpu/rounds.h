// How long something takes, by rounds of about the same length.
//
// Ownership: values. Threads: one. Errors: those of what is measured.
//
//   ASSIGN_OR_RETURN(const Rounds rounds, MeasureRounds(clock, /*seconds=*/2, step));

#ifndef BENCH_GPU_ROUNDS_H_
#define BENCH_GPU_ROUNDS_H_

#include <algorithm>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "operator/base/status.h"

namespace taas::bench {

// Odd: the median is one of them.
inline constexpr int kRounds = 9;
inline constexpr int kWarmUp = 3;

struct Rounds {
  int times = 0;           // In each round.
  std::vector<double> ms;  // Of one time, in the order of the rounds.

  double median() const {
    std::vector<double> sorted = ms;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
};

// `once` returns when what it did has ended, or what it did the time before.
inline absl::StatusOr<Rounds> MeasureRounds(const Clock& clock, double seconds,
                                            const std::function<absl::Status()>& once) {
  const auto milliseconds = [&](int times) -> absl::StatusOr<double> {
    const Clock::Time began = clock.Now();
    for (int i = 0; i < times; ++i) RETURN_IF_ERROR(once());
    return std::chrono::duration<double, std::milli>(clock.Now() - began).count();
  };
  RETURN_IF_ERROR(milliseconds(kWarmUp).status());
  ASSIGN_OR_RETURN(const double first, milliseconds(kWarmUp));
  const double one = std::max(first / kWarmUp, 1e-3);
  Rounds rounds{.times = std::clamp(static_cast<int>(seconds * 1e3 / kRounds / one), 1, 10'000),
                .ms = {}};
  for (int round = 0; round < kRounds; ++round) {
    ASSIGN_OR_RETURN(const double spent, milliseconds(rounds.times));
    rounds.ms.push_back(spent / rounds.times);
  }
  return rounds;
}

}  // namespace taas::bench

#endif  // BENCH_GPU_ROUNDS_H_
