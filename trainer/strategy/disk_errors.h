// Which errors of a checkpoint directory end a training, which only cost checkpoints, and how both
// are told.
//
// Ownership: none. Threads: any; `board` guards itself. Errors: those of the disk that do not pass;
// Cancelled when stopped.
//
//   RETURN_IF_ERROR(TrainOnWithout(Save(), all_saved, clock.Now(), board, &save_again_at));
//   RETURN_IF_ERROR(SaveLast([&] { return Save(); }, board, stop));

#ifndef TRAINER_STRATEGY_DISK_ERRORS_H_
#define TRAINER_STRATEGY_DISK_ERRORS_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "operator/base/clock.h"
#include "trainer/status/status_board.h"
#include "trainer/strategy/stop_flag.h"

namespace taas {

// A disk that is away for a while costs checkpoints, not the training: OK for its errors, and
// `save_again_at` says when the next try is due. `all_saved`: nothing waits for one.
absl::Status TrainOnWithout(const absl::Status& status, bool all_saved, Clock::Time now,
                            StatusBoard& board, std::optional<Clock::Time>* save_again_at);

// The training is done and its last checkpoint, or its export, is all that is missing: a disk that
// is away or full is waited for, as long as it takes. `what` is for messages.
absl::Status SaveLast(const std::function<absl::Status()>& save, StatusBoard& board,
                      const StopFlag& stop, const std::string& what = "the last checkpoint");

}  // namespace taas

#endif  // TRAINER_STRATEGY_DISK_ERRORS_H_
