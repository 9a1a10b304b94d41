#include "trainer/cut/training_saves.h"

#include <chrono>
#include <string>

#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas {
namespace {

// A save that is quicker than this may be waited for: a step does not get longer by more.
constexpr std::chrono::milliseconds kWaitForSave{50};

std::string Milliseconds(Clock::Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

}  // namespace

void TrainingSaves::Start(int64_t step, bool saved, const ModelState& model) {
  if (store_ != nullptr) saver_.emplace(clock_, *store_, model);
  policy_.Start(step, saved);
}

void TrainingSaves::Detach() {
  if (saver_) saver_->Detach();
}

bool TrainingSaves::IsNext(int64_t step) const {
  if (!saver_) return false;
  if (!policy_.Due(step)) return policy_.DueAgain() && !saver_->busy();
  return took_ <= kWaitForSave || !saver_->busy();
}

absl::Status TrainingSaves::Beside(int64_t step, const CommittedSet& committed) {
  if (!saver_) return absl::OkStatus();
  RETURN_IF_ERROR(TakeResult(step));
  if (!IsNext(step)) return absl::OkStatus();
  if (saver_->busy()) {
    if (!saver_->WaitFor(kWaitForSave)) return absl::OkStatus();
    RETURN_IF_ERROR(TakeResult(step));
  }
  policy_.Begin(step);
  if (!policy_.is_saved(step)) saver_->Begin(step, committed);
  return absl::OkStatus();
}

absl::Status TrainingSaves::TakeResult(int64_t step) {
  RETURN_IF_ERROR(policy_.GoOn(saver_->TakeKeepAlive(), step));
  const std::optional<BackgroundSaver::Result> result = saver_->Take();
  if (!result) return absl::OkStatus();
  took_ = result->took;
  if (!result->status.ok()) return policy_.GoOn(result->status, step);
  policy_.Saved(result->step, /*beside_training=*/true);
  Log(LogLevel::kInfo, "checkpoint saved",
      {{"step", std::to_string(result->step)},
       {"ms", Milliseconds(result->took)},
       {"stepHeldMs", Milliseconds(result->held)}});
  return absl::OkStatus();
}

absl::Status TrainingSaves::Now(int64_t step, const CommittedSet& committed) {
  if (!saver_) return absl::OkStatus();
  saver_->Wait();
  // How an earlier one has ended does not matter any more.
  if (const absl::Status before = TakeResult(step); !before.ok()) return before;
  if (policy_.is_saved(step)) return absl::OkStatus();
  saver_->Begin(step, committed);
  saver_->Detach();
  saver_->Wait();
  const std::optional<BackgroundSaver::Result> result = saver_->Take();
  RETURN_IF_ERROR(result->status);
  policy_.Saved(step, /*beside_training=*/false);
  Log(LogLevel::kInfo, "checkpoint saved", {{"step", std::to_string(step)}});
  return absl::OkStatus();
}

}  // namespace taas
