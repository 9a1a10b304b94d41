#include "trainer/strategy/disk_errors.h"

#include <chrono>
#include <string>

#include "operator/base/log.h"

namespace taas {
namespace {

// After a save that failed because of the disk.
constexpr std::chrono::seconds kDiskRetry{5};

// A disk that does not answer, that is full or has no descriptor left, a directory that is not
// mounted at the moment: each may be well again a moment later, without this process.
bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsResourceExhausted(status) ||
         absl::IsNotFound(status);
}

}  // namespace

absl::Status TrainOnWithout(const absl::Status& status, bool all_saved, Clock::Time now,
                            StatusBoard& board, std::optional<Clock::Time>* save_again_at) {
  if (!MayPass(status)) {
    if (status.ok() && all_saved) save_again_at->reset();
    return status;
  }
  *save_again_at = now + kDiskRetry;
  const std::string text =
      "checkpoint directory not to be written, training on: " + std::string(status.message());
  Log(LogLevel::kError, text);
  board.SetState(RunState::kTraining, text);
  return absl::OkStatus();
}

absl::Status SaveLast(const std::function<absl::Status()>& save, StatusBoard& board,
                      const StopFlag& stop, const std::string& what) {
  for (;;) {
    const absl::Status saved = save();
    if (!MayPass(saved)) return saved;
    const std::string text =
        what + " cannot be written, trying again: " + std::string(saved.message());
    Log(LogLevel::kError, text);
    board.SetState(RunState::kSaving, text);
    if (stop.WaitFor(kDiskRetry)) return absl::CancelledError("stopped while " + text);
  }
}

}  // namespace taas
