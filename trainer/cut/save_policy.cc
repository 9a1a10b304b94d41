#include "trainer/cut/save_policy.h"

#include <algorithm>
#include <string>

#include "operator/base/log.h"
#include "trainer/graph/machine_fault.h"
#include "trainer/retry/error_policy.h"
#include "trainer/retry/try_on.h"

namespace taas {

void SavePolicy::Start(int64_t step, bool saved) {
  begun_step_ = step;
  begun_at_ = clock_.Now();
  if (saved) saved_step_ = step;
}

bool SavePolicy::Due(int64_t step) const {
  if (options_.steps > 0 && step / options_.steps > begun_step_ / options_.steps) return true;
  return clock_.Now() - begun_at_ >= options_.seconds;
}

int64_t SavePolicy::NextDue(int64_t step, int64_t last) const {
  if (options_.steps == 0) return last;
  return std::min(last, (step / options_.steps + 1) * options_.steps);
}

void SavePolicy::Begin(int64_t step) {
  begun_step_ = step;
  begun_at_ = clock_.Now();
}

void SavePolicy::Saved(int64_t step, bool beside_training) {
  saved_step_ = step;
  if (!beside_training || !again_at_) return;
  again_at_.reset();
  board_.SetState(RunState::kTraining);
}

absl::Status SavePolicy::GoOn(const absl::Status& status, int64_t step) {
  const Reaction reaction = ReactionTo(status.code(), {TrainerRole::kChief, ErrorAt::kSave});
  if (reaction.patience != Patience::kAlways || IsMachineFault(status)) {
    if (status.ok() && is_saved(step)) again_at_.reset();
    return status;
  }
  again_at_ = clock_.Now() + kTryAgain;
  const std::string text =
      "checkpoint directory not to be written, training on: " + std::string(status.message());
  Log(LogLevel::kError, text);
  board_.SetState(RunState::kTraining, text);
  return absl::OkStatus();
}

}  // namespace taas
