#include "trainer/evaluator/evaluator.h"

#include <chrono>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/checkpoint/checkpoint_list.h"
#include "trainer/retry/error_policy.h"

namespace taas {
namespace {

// Between two looks at the directory: one listing, and the job ends so much later at most.
constexpr std::chrono::milliseconds kLook{200};
// Before it is said that there is no checkpoint yet: at the start of a job that is as it should be.
constexpr std::chrono::seconds kTellAfter{2};
// TensorFlow's name of the average beside each variable.
constexpr char kAverage[] = "/ExponentialMovingAverage";

// What may be well at the next look: a checkpoint that was retired or is damaged, a disk that is
// away.
bool MayPass(const absl::Status& status) {
  return ReactionTo(status.code(), {TrainerRole::kEvaluator, ErrorAt::kRead}).patience ==
         Patience::kAlways;
}

}  // namespace

Evaluator::Evaluator(const Clock& clock, FileSystem& files, Options options, StatusBoard& board,
                     TrainingTask& task, Show show)
    : clock_(clock),
      files_(files),
      options_(std::move(options)),
      board_(board),
      task_(task),
      show_(std::move(show)) {}

absl::Status Evaluator::Run(const StopFlag& stop) {
  for (;;) {
    ASSIGN_OR_RETURN(std::optional<Found> found, Look());
    if (found) {
      RETURN_IF_ERROR(Evaluate(*std::move(found)));
    }
    if (evaluated_ >= options_.max_steps) break;
    ShowWaiting();
    if (stop.WaitFor(kLook)) return absl::CancelledError("stopped by a signal");
  }
  board_.SetState(RunState::kDone);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Evaluator::Found>> Evaluator::Look() {
  trouble_.clear();
  const auto steps = ListCheckpoints(files_, options_.dir);
  if (!steps.ok()) {
    // Whoever makes the directory may be still to come.
    if (!MayPass(steps.status())) return steps.status();
    if (absl::IsNotFound(steps.status())) return std::optional<Found>();
    trouble_ = std::string(steps.status().message());
    return std::optional<Found>();
  }
  const bool early = evaluated_at_ && clock_.Now() - *evaluated_at_ < options_.every;
  for (auto step = steps->rbegin(); step != steps->rend() && *step > evaluated_; ++step) {
    if (early && *step < options_.max_steps) break;
    auto found = Load(*step);
    if (found.ok()) return std::optional<Found>(*std::move(found));
    if (!MayPass(found.status())) return found.status();
    if (trouble_.empty()) trouble_ = std::string(found.status().message());
  }
  return std::optional<Found>();
}

std::string Evaluator::NameOf(size_t variable) const {
  const VariableInfo& info = task_.session().variables()[variable];
  return info.name + (options_.moving_average && info.trainable ? kAverage : "");
}

absl::Status Evaluator::CheckModel(const BundleReader& reader) const {
  for (size_t i = 0; i < task_.session().variables().size(); ++i) {
    const auto found = reader.entries().find(NameOf(i));
    const std::vector<int64_t>& dims = task_.session().variables()[i].shape.dims();
    if (found != reader.entries().end() && found->second.shape == dims) continue;
    return absl::FailedPreconditionError(
        reader.prefix() + " is a checkpoint of another model: it has " +
        (found == reader.entries().end() ? "no " + NameOf(i)
                                         : NameOf(i) + " of shape " +
                                               ShapeText(found->second.shape)) +
        ", the model wants shape " + ShapeText(dims));
  }
  return absl::OkStatus();
}

absl::StatusOr<Evaluator::Found> Evaluator::Load(int64_t step) {
  // Once it is open its files stay readable, whoever retires them.
  ASSIGN_OR_RETURN(const auto reader,
                   BundleReader::Open(files_, CheckpointPrefix(options_.dir, step)));
  RETURN_IF_ERROR(CheckModel(*reader));
  Found found;
  ASSIGN_OR_RETURN(found.step, reader->ReadInt64("global_step"));
  for (size_t i = 0; i < task_.session().variables().size(); ++i) {
    const VariableInfo& variable = task_.session().variables()[i];
    found.values.emplace_back(variable.count);
    RETURN_IF_ERROR(
        reader->ReadFloats(NameOf(i), variable.shape.dims(), found.values.back()));
  }
  return found;
}

absl::Status Evaluator::Evaluate(Found found) {
  board_.SetState(RunState::kEvaluating);
  board_.SetStep(found.step);
  const std::vector<TensorRef> values = TensorsOf(found.values);
  ASSIGN_OR_RETURN(std::optional<Evaluation> evaluation, task_.Evaluate(values));
  evaluated_ = found.step;
  evaluated_at_ = clock_.Now();
  if (!evaluation) {
    if (!std::exchange(told_no_data_, true)) {
      Log(LogLevel::kWarning,
          "there is no test data (data.test): checkpoints are followed, but not evaluated");
    }
    return absl::OkStatus();
  }
  evaluation->step = found.step;
  board_.SetEvaluation(*evaluation);
  show_(*evaluation);
  return absl::OkStatus();
}

void Evaluator::ShowWaiting() {
  std::string text = "waiting for a checkpoint in " + options_.dir;
  if (evaluated_ >= 0) text += " after that of step " + std::to_string(evaluated_);
  if (!trouble_.empty()) text += ": " + trouble_;
  board_.SetState(RunState::kWaitingForPeers, text);
  if (trouble_ != logged_) {
    logged_ = trouble_;
    if (!trouble_.empty()) Log(LogLevel::kWarning, text);
    told_first_ = true;
    return;
  }
  const Clock::Time now = clock_.Now();
  if (!waits_since_) waits_since_ = now;
  if (told_first_ || evaluated_ >= 0 || now - *waits_since_ < kTellAfter) return;
  told_first_ = true;
  Log(LogLevel::kInfo, text);
}

}  // namespace taas
