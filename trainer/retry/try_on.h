// Tries something again that failed for a reason which may pass, for as long as error_policy.h
// says, and tells meanwhile what is waited for: on the board at each try, in the log each minute.
//
// Ownership: borrows all. Threads: any; `board` guards itself. Errors: those of the attempt that do
// not pass, as they are; one that had its time, with what was attempted and for how long
// (Unavailable where the process is to be started again, else FailedPrecondition); Cancelled when
// stopped.
//
//   const Tries tries{clock, board, stop, {.role = TrainerRole::kChief}};
//   RETURN_IF_ERROR(TryOn(tries, ErrorAt::kLastSave, "save the last checkpoint", [&] {
//     return store.Save(snapshot);
//   }));

#ifndef TRAINER_RETRY_TRY_ON_H_
#define TRAINER_RETRY_TRY_ON_H_

#include <chrono>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "operator/base/clock.h"
#include "trainer/retry/error_policy.h"
#include "trainer/retry/stop_flag.h"
#include "trainer/status/status_board.h"

namespace taas {

// The start completes within this or the process asks to be restarted: five minutes cover the pull
// of an image on the other nodes.
constexpr Clock::Duration kStartDeadline = std::chrono::minutes(5);
// Servers of files fail over within minutes. Not longer: others may wait for this replica, and
// another node may see the files.
constexpr Clock::Duration kReadPatience = std::chrono::minutes(10);
// Between two tries: a full disk gets no emptier by being asked more often.
constexpr std::chrono::milliseconds kTryAgain{5'000};

// How often a wait for peers is told again in the log.
constexpr Clock::Duration kWaitLogEvery = std::chrono::seconds(10);

// "3 s".
std::string SecondsOf(Clock::Duration duration);

struct TryLimits {
  TrainerRole role = TrainerRole::kLocal;
  Clock::Duration start = kStartDeadline;
  Clock::Duration read = kReadPatience;
  Clock::Duration save = std::chrono::hours(1);
  std::chrono::milliseconds pause = kTryAgain;
};

struct Tries {
  const Clock& clock;
  StatusBoard& board;
  const StopFlag& stop;
  TryLimits limits{};
};

// `what` is an infinitive: "save the last checkpoint". The board is as before when it went well.
absl::Status TryOn(const Tries& tries, ErrorAt at, const std::string& what,
                   const std::function<absl::Status()>& attempt);

}  // namespace taas

#endif  // TRAINER_RETRY_TRY_ON_H_
