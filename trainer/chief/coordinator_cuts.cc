// Consistent cuts of the model: taken from who holds it, and saved.

#include <chrono>
#include <memory>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/chief/coordinator.h"
#include "trainer/task/first_and_last.h"

namespace taas {
namespace {

// Most disks are done before anything else is looked at.
constexpr std::chrono::milliseconds kQuickDisk{50};

}  // namespace

absl::Status Coordinator::TakeCut() {
  auto cut = std::make_shared<Snapshot>(*cut_);
  RETURN_IF_ERROR(holder_->ReadCut(*cut));
  cut_ = std::move(cut);
  // It may be the last step, after which nobody asks how far the holder is.
  step_ = cut_->step;
  board_.SetStep(step_);
  return absl::OkStatus();
}

void Coordinator::SaveBeside() {
  saves_.Begin(cut_->step);
  if (store_ == nullptr || saves_.is_saved(cut_->step)) return;
  saving_ = Saving{cut_->step, std::async(std::launch::async, [this, cut = cut_] {
                     return store_->Save(*cut);
                   })};
  saving_->result.wait_for(kQuickDisk);
}

void Coordinator::LookAtDisk() {
  if (store_ == nullptr) return;
  if (!saving_) {
    GoOn(store_->KeepAlive(), cut_->step);
    return;
  }
  if (saving_->result.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  const int64_t step = saving_->step;
  const absl::Status status = saving_->result.get();
  saving_.reset();
  if (status.ok()) {
    saves_.Saved(step, /*beside_training=*/true);
    Log(LogLevel::kInfo, "checkpoint saved", {{"step", std::to_string(step)}});
  }
  GoOn(status, step);
}

void Coordinator::GoOn(const absl::Status& status, int64_t step) {
  const absl::Status ends = saves_.GoOn(status, step);
  // Of this process, whatever its class: no parameter server is to blame.
  if (!ends.ok()) desk_.Fail(ends);
}

absl::Status Coordinator::SaveNow() {
  const int64_t step = cut_->step;
  if (store_ == nullptr || saves_.is_saved(step)) return absl::OkStatus();
  RETURN_IF_ERROR(store_->Save(*cut_));
  saves_.Saved(step, /*beside_training=*/false);
  Log(LogLevel::kInfo, "checkpoint saved", {{"step", std::to_string(step)}});
  return absl::OkStatus();
}

void Coordinator::SaveLast() {
  if (!began_ || store_ == nullptr) return;
  SaveBeforeEnd(board_, [this] {
    // A parameter server may have gone first. Then the cut before is the last.
    absl::Status cut = absl::UnavailableError("a parameter server does not answer");
    if (model_ == ChiefView::Model::kHeld) {
      holder_->Hurry();
      cut = TakeCut();
    }
    if (!cut.ok() && cut_->step < step_) {
      Log(LogLevel::kWarning, "no cut at the end", {{"why", cut.ToString()}});
    }
    return SaveNow();
  });
}

}  // namespace taas
