#include "trainer/ring/rank_loop.h"

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
      options_(std::move(options)),
      core_(options_.max_steps) {}

absl::Status RankLoop::Run() {
  for (;;) {
    switch (core_.want()) {
      case RankWant::kModel: RETURN_IF_ERROR(Begin()); break;
      case RankWant::kEpoch: RETURN_IF_ERROR(AwaitEpoch()); break;
      case RankWant::kEnter: RETURN_IF_ERROR(Enter()); break;
      case RankWant::kStep: RETURN_IF_ERROR(Step()); break;
      case RankWant::kOutlast: RETURN_IF_ERROR(Outlast()); break;
      case RankWant::kNothing: return absl::OkStatus();
    }
  }
}

absl::Status RankLoop::Begin() {
  ASSIGN_OR_RETURN(const Standing standing, options_.hooks.start());
  core_.Begin(standing);
  return absl::OkStatus();
}

absl::Status RankLoop::AwaitEpoch() {
  ASSIGN_OR_RETURN(const std::optional<Epoch> epoch,
                   source_.Next(core_.standing(), core_.lost()));
  core_.Join(epoch);
  return absl::OkStatus();
}

absl::Status RankLoop::Enter() {
  if (core_.receives()) options_.hooks.before_update();
  const absl::Status entered = ring_.Enter(core_.epoch());
  if (entered.ok()) {
    core_.Entered();
    return options_.hooks.on_epoch(core_.standing());
  }
  RETURN_IF_ERROR(ring_.own_error());
  core_.NotEntered(ring_.lost());
  Log(LogLevel::kInfo, "an epoch has ended before it began",
      {{"epoch", std::to_string(core_.epoch().number)}, {"why", std::string(entered.message())}});
  return absl::OkStatus();
}

absl::Status RankLoop::Step() {
  const Clock::Time begun = clock_.Now();
  ASSIGN_OR_RETURN(const RankCore::Turn turn, core_.Take());
  RETURN_IF_ERROR(ring_.BeginStep(turn.step));
  update_.Prepare(turn.step);
  ASSIGN_OR_RETURN(const float loss, task_.ComputeGradients(std::span(&turn.batch, 1)));
  const Clock::Time computed = clock_.Now();
  const absl::StatusOr<float> mean = ring_.Mean(loss);
  RETURN_IF_ERROR(ring_.own_error());
  if (!mean.ok()) {
    core_.NotMade(ring_.lost());
    Log(LogLevel::kInfo, "a step was not made: the epoch is over",
        {{"step", std::to_string(turn.step)}, {"why", std::string(mean.status().message())}});
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(CheckLoss(*mean, {turn.step, turn.batch}, task_));
  options_.hooks.before_update();
  RETURN_IF_ERROR(update_.Apply());
  core_.Made();
  RETURN_IF_ERROR(options_.hooks.after_step(core_.standing(), *mean));
  StepTimes times = ring_.times();
  times.compute = computed - begun;
  times.all = clock_.Now() - begun;
  options_.hooks.on_times(times);
  return absl::OkStatus();
}

absl::Status RankLoop::Outlast() {
  RETURN_IF_ERROR(options_.hooks.at_end(core_.standing()));
  source_.Outlast();
  core_.Outlasted();
  return absl::OkStatus();
}

}  // namespace taas
