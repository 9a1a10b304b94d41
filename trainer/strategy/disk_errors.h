// Which errors of a checkpoint directory only cost checkpoints while the training goes on, and how
// they are told. What is saved when there is nothing else to do is tried by try_on.h.
//
// Ownership: none. Threads: any; `board` guards itself. Errors: those of the disk that do not pass.
//
//   RETURN_IF_ERROR(TrainOnWithout(Save(), all_saved, clock.Now(), board, &save_again_at));

#ifndef TRAINER_STRATEGY_DISK_ERRORS_H_
#define TRAINER_STRATEGY_DISK_ERRORS_H_

#include <optional>

#include "absl/status/status.h"
#include "operator/base/clock.h"
#include "trainer/status/status_board.h"

namespace taas {

// A disk that is away for a while costs checkpoints, not the training: OK for its errors, and
// `save_again_at` says when the next try is due. `all_saved`: nothing waits for one.
absl::Status TrainOnWithout(const absl::Status& status, bool all_saved, Clock::Time now,
                            StatusBoard& board, std::optional<Clock::Time>* save_again_at);

}  // namespace taas

#endif  // TRAINER_STRATEGY_DISK_ERRORS_H_
