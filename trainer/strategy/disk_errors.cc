#include "trainer/strategy/disk_errors.h"

#include <string>

#include "operator/base/log.h"
#include "trainer/strategy/error_policy.h"
#include "trainer/strategy/try_on.h"

namespace taas {

absl::Status TrainOnWithout(const absl::Status& status, bool all_saved, Clock::Time now,
                            StatusBoard& board, std::optional<Clock::Time>* save_again_at) {
  const Reaction reaction =
      ReactionTo(status.code(), {TrainerRole::kChief, ErrorAt::kSave});
  if (reaction.patience != Patience::kAlways) {
    if (status.ok() && all_saved) save_again_at->reset();
    return status;
  }
  *save_again_at = now + kTryAgain;
  const std::string text =
      "checkpoint directory not to be written, training on: " + std::string(status.message());
  Log(LogLevel::kError, text);
  board.SetState(RunState::kTraining, text);
  return absl::OkStatus();
}

}  // namespace taas
