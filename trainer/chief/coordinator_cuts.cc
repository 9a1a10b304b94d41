// Consistent cuts of the model: taken from the parameter servers, saved, and what a job ends with.

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/chief/coordinator.h"

namespace taas {
namespace {

// Replicas leave in milliseconds once told; one that does not must not keep the job from ending.
constexpr std::chrono::seconds kFarewell{5};
// How often the farewell looks at the stop flag, which cannot wake it.
constexpr std::chrono::milliseconds kLookForStop{100};

}  // namespace

absl::Status Coordinator::TakeCut() {
  Snapshot cut = snapshot_;
  RETURN_IF_ERROR(ReadCutInto(cut));
  snapshot_ = std::move(cut);
  return absl::OkStatus();
}

absl::Status Coordinator::ReadCutInto(Snapshot& cut) {
  controls_[0]->LimitSilence(cut_patience_);
  ASSIGN_OR_RETURN(const ps::ShardControl::State state, controls_[0]->Cut());
  cut.committed = state.committed;
  cut.step = state.step;
  const ps::ModelSpans spans = SpansOf(cut);
  for (size_t shard = 0; shard < controls_.size(); ++shard) {
    controls_[shard]->LimitSilence(cut_patience_);
    RETURN_IF_ERROR(controls_[shard]->ReadCut(state.step, layout_.shards[shard], spans));
    RETURN_IF_ERROR(controls_[shard]->ReleaseCut());
    controls_[shard]->LimitSilence(ps::ShardControl::Options().silence_max);
  }
  return absl::OkStatus();
}

ps::ModelSpans Coordinator::SpansOf(Snapshot& snapshot) {
  ps::ModelSpans spans{snapshot.spans(), snapshot.slot_spans()};
  // One memory for all of them, and none of its spans is taken before it has its size.
  size_t largest = no_slot_.size();
  for (const auto& slot : spans.slots) {
    for (size_t i = 0; i < slot.size(); ++i) {
      if (slot[i].empty()) largest = std::max(largest, snapshot.values[i].size());
    }
  }
  no_slot_.resize(largest);
  for (auto& slot : spans.slots) {
    for (size_t i = 0; i < slot.size(); ++i) {
      if (slot[i].empty()) slot[i] = std::span(no_slot_).first(snapshot.values[i].size());
    }
  }
  return spans;
}

absl::Status Coordinator::SaveCut(bool beside_training) {
  saves_.Begin(snapshot_.step);
  if (store_ == nullptr || saves_.is_saved(snapshot_.step)) return absl::OkStatus();
  RETURN_IF_ERROR(beside_training ? WatchWhileSaving() : store_->Save(snapshot_));
  saves_.Saved(snapshot_.step, beside_training);
  Log(LogLevel::kInfo, "checkpoint saved", {{"step", std::to_string(snapshot_.step)}});
  return absl::OkStatus();
}

absl::Status Coordinator::GoOn(const absl::Status& status) {
  const absl::Status ends = saves_.GoOn(status, snapshot_.step);
  // Of this process, whatever its class: no parameter server is to blame.
  if (!ends.ok()) Fail(ends);
  return ends;
}

void Coordinator::SaveBeforeEnd() {
  const absl::Status saved = SaveWhatIsThere();
  if (!saved.ok()) Log(LogLevel::kError, "no last checkpoint", {{"why", saved.ToString()}});
}

absl::Status Coordinator::SaveWhatIsThere() {
  if (controls_.empty() || store_ == nullptr) return absl::OkStatus();
  board_.SetState(RunState::kSaving, "about to end: saving a last checkpoint");
  // A parameter server may have gone first. Then the cut before is the last.
  absl::Status cut = absl::UnavailableError("a parameter server does not answer");
  if (answering_) {
    // Whoever stops this process does not wait as long as training does.
    cut_patience_ = kPatienceAtStop;
    for (const auto& control : controls_) control->LimitSilence(kPatienceAtStop);
    cut = TakeCut();
  }
  if (!cut.ok()) Log(LogLevel::kWarning, "no cut at the end", {{"why", cut.ToString()}});
  return SaveCut();
}

absl::Status Coordinator::Finish(const StopFlag& stop) {
  {
    std::lock_guard lock(mutex_);
    trained_ = true;
    changed_.notify_all();
  }
  RETURN_IF_ERROR(CheckTrained(task_.session(), TensorsOf(snapshot_.values), snapshot_.step));
  board_.SetState(RunState::kSaving);
  const Tries tries = TriesUntil(stop);
  RETURN_IF_ERROR(TryOn(tries, ErrorAt::kLastSave, "save the last checkpoint",
                        [this] { return SaveCut(); }));
  std::vector<TensorRef> evaluated = TensorsOf(snapshot_.values);
  if (const auto average = optimizer_->average_slot()) {
    const std::vector<TensorRef> averages = TensorsOf(snapshot_.slots[*average]);
    for (size_t i = 0; i < evaluated.size(); ++i) {
      if (!averages[i].empty()) evaluated[i] = averages[i];
    }
  }
  RETURN_IF_ERROR(TryOn(tries, ErrorAt::kLastSave, "export the model",
                        [&] { return task_.Export(snapshot_.step, evaluated); }));
  board_.SetState(RunState::kEvaluating);
  ASSIGN_OR_RETURN(std::optional<Evaluation> evaluation, task_.Evaluate(evaluated));
  if (evaluation) {
    evaluation->step = snapshot_.step;
    board_.SetEvaluation(*evaluation);
    options_.on_evaluation(*evaluation);
  }
  Lock lock(mutex_);
  done_ = true;
  end_step_ = snapshot_.step;
  ready_ = false;
  ++view_;
  changed_.notify_all();
  const auto all_left = [&] {
    // Who has not joined yet (the job was short, or this chief came only for the end) would else
    // look for a chief that is gone.
    return membership_.members().size() >= options_.cluster.size() - 1 &&
           std::all_of(
               membership_.members().begin(), membership_.members().end(),
               [](const auto& entry) { return entry.second.left || entry.second.lost; });
  };
  const Clock::Time until = clock_.Now() + kFarewell;
  while (!all_left() && !stop.stopped() && clock_.Now() < until) {
    changed_.wait_for(lock, kLookForStop);
  }
  if (!all_left()) Log(LogLevel::kWarning, "a replica has not taken leave; ending without it");
  board_.SetState(RunState::kDone);
  return absl::OkStatus();
}

}  // namespace taas
