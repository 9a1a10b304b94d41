#include "trainer/ring/rank_loop.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas {

RankLoop::RankLoop(EpochSource& source, Ring& ring, TrainingTask& task, ModelUpdate& update,
                   Options options)
    : source_(source),
      ring_(ring),
      task_(task),
      update_(update),
      options_(std::move(options)) {}

absl::Status RankLoop::Run() {
  for (;;) {
    if (standing_.step == kNoModel) {
      ASSIGN_OR_RETURN(standing_, options_.hooks.start());
    }
    ASSIGN_OR_RETURN(const std::optional<Epoch> epoch, source_.Next(standing_));
    if (!epoch) return absl::OkStatus();
    RETURN_IF_ERROR(Train(*epoch));
  }
}

absl::Status RankLoop::Train(const Epoch& epoch) {
  const absl::Status entered = ring_.Enter(epoch);
  if (!entered.ok()) {
    Log(LogLevel::kInfo, "an epoch has ended before it began",
        {{"epoch", std::to_string(epoch.number)}, {"why", std::string(entered.message())}});
    return absl::OkStatus();
  }
  if (std::ranges::find(epoch.receivers, epoch.rank) != epoch.receivers.end()) {
    options_.hooks.before_update();
    RETURN_IF_ERROR(ring_.TakeGiven());
  }
  standing_ = epoch.start;
  batches_ = UntrainedBatches(standing_.committed);
  RETURN_IF_ERROR(options_.hooks.on_epoch(standing_));
  while (standing_.step < options_.max_steps) {
    ASSIGN_OR_RETURN(const bool goes_on, Step());
    if (!goes_on) return absl::OkStatus();
  }
  RETURN_IF_ERROR(options_.hooks.at_end(standing_));
  source_.Outlast();
  return absl::OkStatus();
}

absl::StatusOr<bool> RankLoop::Step() {
  const int64_t step = standing_.step + 1;
  for (int i = 0; i < ring_.ranks(); ++i) {
    RETURN_IF_ERROR(batches_.Next().status());
  }
  const int64_t own = batches_.taken()[static_cast<size_t>(ring_.rank())];
  RETURN_IF_ERROR(ring_.BeginStep(step));
  update_.Prepare(step);
  ASSIGN_OR_RETURN(const float loss, task_.ComputeGradients(std::span(&own, 1)));
  const absl::StatusOr<float> mean = ring_.Mean(loss);
  if (!mean.ok()) {
    batches_.Return(batches_.taken().size());
    Log(LogLevel::kInfo, "a step was not made: the epoch is over",
        {{"step", std::to_string(step)}, {"why", std::string(mean.status().message())}});
    return false;
  }
  RETURN_IF_ERROR(CheckLoss(*mean, {step, own}, task_));
  options_.hooks.before_update();
  RETURN_IF_ERROR(update_.Apply());
  batches_.Commit(batches_.taken().size());
  standing_ = {step, batches_.committed()};
  RETURN_IF_ERROR(options_.hooks.after_step(standing_, *mean));
  return true;
}

}  // namespace taas
