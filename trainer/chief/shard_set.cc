#include "trainer/chief/shard_set.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "operator/base/status.h"

namespace taas {
namespace {

ModelHolder::Progress ProgressOf(ps::ShardControl::State state) {
  return {state.step, std::move(state.committed), std::move(state.gone)};
}

}  // namespace

ShardSet::ShardSet(const Clock& clock, const StopFlag& stop, Options options)
    : clock_(clock),
      stop_(stop),
      options_(std::move(options)),
      cut_off_([this] { CutOffWhenStopped(); }) {}

ShardSet::~ShardSet() {
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  cut_off_.join();
}

void ShardSet::SetUnderWay(ps::ShardControl* control) {
  std::lock_guard lock(mutex_);
  under_way_ = control;
}

void ShardSet::CutOffWhenStopped() {
  std::optional<Clock::Time> cut_off_at;
  std::unique_lock lock(mutex_);
  while (!ended_) {
    if (!cut_off_at && stop_.stopped()) cut_off_at = clock_.Now() + kPatienceAtStop;
    if (cut_off_at && clock_.Now() >= *cut_off_at && under_way_ != nullptr) {
      std::exchange(under_way_, nullptr)->Shutdown();
    }
    changed_.wait_for(lock, kLookForStop);
  }
}

absl::Status ShardSet::Begin(const Generation& generation, Snapshot& cut) {
  generation_ = generation;
  if (options_.record != nullptr) {
    options_.record->OnGeneration({.generation = generation.number,
                                   .shard = -1,
                                   .shards = static_cast<int>(generation.addresses.size()),
                                   .step = cut.step});
  }
  controls_.clear();
  for (size_t shard = 0; shard < generation.addresses.size(); ++shard) {
    ASSIGN_OR_RETURN(auto control, ps::ShardControl::Connect(generation.addresses[shard],
                                                             {.job = options_.job}));
    const ps::ShardConfig config = {
        .generation = generation.number,
        .shard = static_cast<int>(shard),
        .shards = generation.addresses,
        .pieces = options_.layout.shards[shard],
        .optimizer = options_.optimizer,
        .committed = cut.committed,
        .step = cut.step,
        .max_steps = options_.max_steps,
        .aggregate = options_.aggregate,
        .max_staleness = options_.max_staleness,
        .named = std::vector(generation.members.begin(), generation.members.end()),
        .chief_pod = options_.chief_pod};
    const absl::Status configured =
        CutOffAtStop(*control, [&] { return control->Configure(config, SpansOf(cut)); });
    // Another program may have the port by now: as if nobody had it.
    if (absl::IsDataLoss(configured)) return absl::UnavailableError(configured.message());
    RETURN_IF_ERROR(configured);
    controls_.push_back(std::move(control));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ps::ShardControl>> ShardSet::ConnectAgain(
    const std::string& address) {
  ASSIGN_OR_RETURN(auto control, ps::ShardControl::Connect(address, {.job = options_.job}));
  ASSIGN_OR_RETURN(const int64_t generation,
                   CutOffAtStop(*control, [&] { return control->Generation(); }));
  if (generation != generation_.number) {
    return absl::AbortedError("parameter server at " + address + " is in generation " +
                              std::to_string(generation));
  }
  control->Adopt(generation);
  return control;
}

absl::Status ShardSet::Reconnect() {
  std::vector<std::unique_ptr<ps::ShardControl>> controls;
  for (const std::string& address : generation_.addresses) {
    ASSIGN_OR_RETURN(auto control, ConnectAgain(address));
    controls.push_back(std::move(control));
  }
  // Its address answers, but a shard that gave its generation up still names it: ask for real.
  const auto state = CutOffAtStop(*controls[0], [&] {
    return controls[0]->WaitStep(0, std::chrono::milliseconds(0));
  });
  if (!state.ok()) return absl::AbortedError(state.status().message());
  controls_ = std::move(controls);
  return absl::OkStatus();
}

absl::StatusOr<ModelHolder::Progress> ShardSet::WaitStep(int64_t step,
                                                         std::chrono::milliseconds hold) {
  ASSIGN_OR_RETURN(ps::ShardControl::State state,
                   CutOffAtStop(*controls_[0], [&] { return controls_[0]->WaitStep(step, hold); }));
  for (const auto& control : controls_) {
    if (!control->LooksAlive()) return absl::UnavailableError("a parameter server has gone");
  }
  return ProgressOf(std::move(state));
}

absl::Status ShardSet::Name(const std::set<Pusher>& members) {
  const std::vector<Pusher> list(members.begin(), members.end());
  for (const auto& control : controls_) {
    RETURN_IF_ERROR(CutOffAtStop(*control, [&] { return control->Name(list); }));
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelHolder::Progress> ShardSet::Fence(const Pusher& pusher) {
  ASSIGN_OR_RETURN(ps::ShardControl::State state,
                   CutOffAtStop(*controls_[0], [&] { return controls_[0]->Fence(pusher); }));
  return ProgressOf(std::move(state));
}

absl::Status ShardSet::ReadCut(Snapshot& cut) {
  controls_[0]->LimitSilence(cut_patience_);
  ASSIGN_OR_RETURN(const ps::ShardControl::State state, controls_[0]->Cut());
  cut.committed = state.committed;
  cut.step = state.step;
  const ps::ModelSpans spans = SpansOf(cut);
  for (size_t shard = 0; shard < controls_.size(); ++shard) {
    controls_[shard]->LimitSilence(cut_patience_);
    RETURN_IF_ERROR(
        controls_[shard]->ReadCut(state.step, options_.layout.shards[shard], spans));
    RETURN_IF_ERROR(controls_[shard]->ReleaseCut());
    controls_[shard]->LimitSilence(ps::ShardControl::Options().silence_max);
  }
  return absl::OkStatus();
}

void ShardSet::Hurry() {
  cut_patience_ = kPatienceAtStop;
  for (const auto& control : controls_) control->LimitSilence(kPatienceAtStop);
}

ps::ModelSpans ShardSet::SpansOf(Snapshot& cut) {
  ps::ModelSpans spans{cut.spans(), cut.slot_spans()};
  // One memory for all of them, and none of its spans is taken before it has its size.
  size_t largest = no_slot_.size();
  for (const auto& slot : spans.slots) {
    for (size_t i = 0; i < slot.size(); ++i) {
      if (slot[i].empty()) largest = std::max(largest, cut.values[i].size());
    }
  }
  no_slot_.resize(largest);
  for (auto& slot : spans.slots) {
    for (size_t i = 0; i < slot.size(); ++i) {
      if (slot[i].empty()) slot[i] = std::span(no_slot_).first(cut.values[i].size());
    }
  }
  return spans;
}

}  // namespace taas
