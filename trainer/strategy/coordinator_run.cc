#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/comm/channel.h"
#include "trainer/strategy/coordinator.h"

namespace taas {
namespace {

// How long the coordinator looks away: WAIT_STEP answers at once at its step, this bounds the rest
// (fences, lost members, signals).
constexpr std::chrono::milliseconds kLookAway{50};
constexpr std::chrono::milliseconds kRetryPause{50};
// A missing peer's address is tried this often to say why it is missing.
constexpr std::chrono::milliseconds kProbeEvery{2'000};
constexpr std::chrono::milliseconds kProbePatience{500};
// A disk that failed is tried again after this.
constexpr std::chrono::seconds kDiskRetry{5};
// Replicas leave in milliseconds once told; one that does not must not keep the job from ending.
constexpr std::chrono::seconds kFarewell{5};
constexpr Clock::Duration kShowPeersEvery = std::chrono::milliseconds(500);

std::string HexStart(uint64_t start) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(start));
  return text;
}

}  // namespace

absl::Status Coordinator::Run(const StopFlag& stop) {
  const absl::Status status = RunToEnd(stop);
  {
    std::lock_guard lock(mutex_);
    if (failure_.ok() && !status.ok()) failure_ = status;
    changed_.notify_all();
  }
  return status;
}

absl::Status Coordinator::RunToEnd(const StopFlag& stop) {
  RETURN_IF_ERROR(LoadStart());
  if (snapshot_.step >= options_.config.max_steps) {
    // The chief before this one died after its last checkpoint. Parameter servers may have ended by
    // then, and there is nothing left for them to do.
    return Finish();
  }
  for (;;) {
    absl::Status status = WaitForShards(stop);
    if (status.ok()) {
      status = StartGeneration();
      if (status.ok()) status = Watch(stop);
      // The last cut is taken before anyone is told that all is trained: until then it can be lost
      // again.
      if (status.ok() && saved_step_ != step_) status = TakeCut();
      if (status.ok()) return Finish();
    }
    if (absl::IsCancelled(status)) {
      const absl::Status saved = SaveWhatIsThere();
      if (!saved.ok()) Log(LogLevel::kError, "no last checkpoint", {{"why", saved.ToString()}});
      return status;
    }
    if (!absl::IsUnavailable(status) && !absl::IsAborted(status)) return status;
    PauseWork(RunState::kRestoring, "restoring step " + std::to_string(snapshot_.step) +
                                        " on the parameter servers: " +
                                        std::string(status.message()));
    Log(LogLevel::kWarning, "parameter server lost; going back to the last cut",
        {{"step", std::to_string(snapshot_.step)}, {"why", status.ToString()}});
    stop.WaitFor(kRetryPause);
  }
}

absl::Status Coordinator::LoadStart() {
  board_.SetState(RunState::kRestoring, "reading the last checkpoint");
  task_.session().InitializeVariables(options_.config.seed);
  snapshot_ = InitialSnapshot(task_.session());
  saved_at_ = clock_.Now();
  if (store_ == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const bool found, store_->Load(&snapshot_));
  if (found) {
    saved_step_ = snapshot_.step;
    Log(LogLevel::kInfo, "resuming from checkpoint", {{"step", std::to_string(saved_step_)}});
  }
  board_.SetStep(snapshot_.step);
  return absl::OkStatus();
}

absl::Status Coordinator::WaitForShards(const StopFlag& stop) {
  const Clock::Time start = clock_.Now();
  Clock::Time logged = start - kWaitLogEvery;
  std::map<ReplicaId, Clock::Time> probed;
  for (;;) {
    std::vector<ReplicaId> missing;
    std::string text;
    {
      Lock lock(mutex_);
      membership_.Sweep(clock_.Now());
      missing = membership_.Missing("ps");
      if (missing.empty()) return absl::OkStatus();
      text = DescribeMissing(missing);
      waiting_for_ = text;
      changed_.wait_for(lock, kLookAway);
    }
    RETURN_IF_ERROR(Failure());
    if (stop.stopped()) return absl::CancelledError("stopped while " + text);
    const Clock::Time now = clock_.Now();
    board_.SetState(RunState::kWaitingForPeers, text);
    ShowPeers();
    if (now - start > kStartDeadline) {
      return absl::DeadlineExceededError(text + ", given up after 300 s");
    }
    // One in a turn: an address that swallows packets must not keep the start from going on when
    // all are there.
    const auto due = std::find_if(missing.begin(), missing.end(), [&](const ReplicaId& replica) {
      return !probed.contains(replica) || now - probed[replica] >= kProbeEvery;
    });
    if (due != missing.end()) {
      probed[*due] = now;
      const auto channel =
          comm::Channel::Connect(options_.cluster.address(*due), {.patience = kProbePatience});
      std::lock_guard lock(mutex_);
      probe_errors_[*due] = channel.ok() ? "" : std::string(channel.status().message());
    }
    // The first line a moment later: at the start of a job everybody is missing for a few
    // milliseconds.
    if (now - logged >= kWaitLogEvery && now - start >= kProbeEvery) {
      logged = now;
      Log(LogLevel::kWarning, text);
    }
  }
}

absl::Status Coordinator::StartGeneration() {
  std::vector<std::string> addresses;
  std::vector<Incarnation> incarnations;
  int64_t generation;
  {
    std::lock_guard lock(mutex_);
    for (int i = 0; i < options_.cluster.count("ps"); ++i) {
      const Membership::Member* member = membership_.Find({"ps", i});
      if (member == nullptr || member->lost) return absl::UnavailableError("a shard has gone");
      addresses.push_back(member->bulk_address);
      incarnations.push_back(member->incarnation);
    }
    generation = std::max(generation_, seen_generation_) + 1;
    generation_ = seen_generation_ = generation;
    shard_addresses_ = addresses;
    shard_incarnations_ = incarnations;
    ready_ = false;
    ++view_;
  }
  controls_.clear();
  for (size_t shard = 0; shard < addresses.size(); ++shard) {
    ASSIGN_OR_RETURN(auto control, ps::ShardControl::Connect(addresses[shard]));
    RETURN_IF_ERROR(control->Configure({.generation = generation,
                                        .shard = static_cast<int>(shard),
                                        .shards = addresses,
                                        .pieces = layout_.shards[shard],
                                        .optimizer = options_.config.optimizer,
                                        .committed = snapshot_.committed,
                                        .max_steps = options_.config.max_steps},
                                       snapshot_.spans()));
    controls_.push_back(std::move(control));
  }
  step_ = snapshot_.step;
  board_.SetState(RunState::kTraining);
  board_.SetStep(step_);
  std::lock_guard lock(mutex_);
  leases_.Reset(snapshot_.committed, options_.config.max_steps);
  // Whoever was lost before this generation holds nothing in it.
  lost_.clear();
  waiting_for_.clear();
  ready_ = true;
  ++view_;
  changed_.notify_all();
  return absl::OkStatus();
}

absl::Status Coordinator::Watch(const StopFlag& stop) {
  const TrainerConfig& config = options_.config;
  for (;;) {
    if (stop.stopped()) return absl::CancelledError("stopped");
    RETURN_IF_ERROR(Failure());
    if (step_ >= config.max_steps) return absl::OkStatus();
    int64_t target = config.max_steps;
    if (config.checkpoint_steps > 0) {
      target = std::min(target, (step_ / config.checkpoint_steps + 1) * config.checkpoint_steps);
    }
    if (store_ != nullptr) {
      RETURN_IF_ERROR(TrainOnWithout(store_->KeepAlive()));
    }
    absl::Status status = WatchOnce(target);
    if (status.ok() && ShardsReplaced()) {
      return absl::AbortedError("a parameter server was replaced");
    }
    if (status.ok()) {
      const bool by_steps = config.checkpoint_steps > 0 &&
                            step_ / config.checkpoint_steps >
                                snapshot_.step / config.checkpoint_steps;
      const bool by_time =
          clock_.Now() - saved_at_ >= std::chrono::seconds(config.checkpoint_seconds);
      if (by_steps || by_time) {
        status = TakeCut();
        if (status.ok()) {
          RETURN_IF_ERROR(TrainOnWithout(SaveCut()));
        }
      } else if (save_again_at_ && clock_.Now() >= *save_again_at_) {
        RETURN_IF_ERROR(TrainOnWithout(SaveCut()));
      }
    }
    if (absl::IsUnavailable(status) || absl::IsAborted(status)) status = Resume(stop, status);
    RETURN_IF_ERROR(std::move(status));
  }
}

absl::Status Coordinator::WatchOnce(int64_t target) {
  std::set<int64_t> finished;
  {
    std::lock_guard lock(mutex_);
    finished = leases_.finished();
  }
  ASSIGN_OR_RETURN(const ps::ShardControl::State state,
                   controls_[0]->WaitStep(target, kLookAway));
  for (const auto& control : controls_) {
    if (!control->LooksAlive()) return absl::UnavailableError("a parameter server has gone");
  }
  step_ = state.step;
  board_.SetStep(step_);
  ShowPeers();
  {
    std::lock_guard lock(mutex_);
    leases_.Trim(state.committed);
    // The state is younger than their end: what it lacks was dropped.
    if (leases_.Settle(finished, state.committed) > 0) changed_.notify_all();
    for (const Membership::Member& member : membership_.Sweep(clock_.Now())) {
      Log(LogLevel::kWarning, "replica silent for more than 10 s; its batches go to others",
          {{"replica", member.replica.name()}});
      GiveUp(member.replica, member.incarnation);
    }
  }
  return FenceLost();
}

absl::Status Coordinator::FenceLost() {
  for (;;) {
    Lost lost;
    {
      std::lock_guard lock(mutex_);
      if (lost_.empty()) return absl::OkStatus();
      lost = lost_.back();
    }
    ASSIGN_OR_RETURN(const ps::ShardControl::State state, controls_[0]->Fence(lost.pusher));
    std::lock_guard lock(mutex_);
    const size_t reclaimed = leases_.Reclaim(lost.pusher, state.committed);
    lost_.erase(std::remove_if(lost_.begin(), lost_.end(),
                               [&](const Lost& entry) { return entry.pusher == lost.pusher; }),
                lost_.end());
    Log(LogLevel::kInfo, "replica fenced",
        {{"replica", lost.name},
         {"start", HexStart(lost.pusher.start)},
         {"batches", std::to_string(reclaimed)}});
    if (reclaimed > 0) changed_.notify_all();
  }
}

bool Coordinator::ShardsReplaced() {
  std::lock_guard lock(mutex_);
  for (size_t shard = 0; shard < shard_incarnations_.size(); ++shard) {
    const Membership::Member* member = membership_.Find({"ps", static_cast<int>(shard)});
    if (member == nullptr || member->lost || member->incarnation != shard_incarnations_[shard]) {
      return true;
    }
  }
  return false;
}

absl::Status Coordinator::Resume(const StopFlag& stop, const absl::Status& broken) {
  // A connection can break though both ends live: then nothing is lost and nothing goes back.
  absl::Status last = broken;
  while (!stop.stopped() && !ShardsReplaced()) {
    RETURN_IF_ERROR(Failure());
    {
      std::lock_guard lock(mutex_);
      membership_.Sweep(clock_.Now());
      waiting_for_ = "waiting for a parameter server: " + std::string(last.message());
    }
    board_.SetState(RunState::kWaitingForPeers, "waiting for a parameter server: " +
                                                    std::string(last.message()));
    std::vector<std::unique_ptr<ps::ShardControl>> controls;
    last = absl::OkStatus();
    for (const std::string& address : shard_addresses_) {
      auto control = ps::ShardControl::Connect(address);
      if (!control.ok()) {
        last = control.status();
        break;
      }
      const auto generation = (*control)->Generation();
      if (!generation.ok()) {
        last = generation.status();
        break;
      }
      if (*generation != generation_) return broken;
      (*control)->Adopt(generation_);
      controls.push_back(*std::move(control));
    }
    if (last.ok()) {
      // Its address answers, but a shard that gave its generation up still names it: ask for real.
      const auto state = controls[0]->WaitStep(0, std::chrono::milliseconds(0));
      if (!state.ok()) return broken;
      controls_ = std::move(controls);
      board_.SetState(RunState::kTraining);
      std::lock_guard lock(mutex_);
      waiting_for_.clear();
      return absl::OkStatus();
    }
    stop.WaitFor(kRetryPause);
  }
  return stop.stopped() ? absl::CancelledError("stopped") : broken;
}

absl::Status Coordinator::TakeCut() {
  ASSIGN_OR_RETURN(const ps::ShardControl::State state, controls_[0]->Cut());
  Snapshot cut = snapshot_;
  cut.committed = state.committed;
  cut.step = state.step;
  for (size_t shard = 0; shard < controls_.size(); ++shard) {
    RETURN_IF_ERROR(controls_[shard]->ReadCut(state.step, layout_.shards[shard], cut.spans()));
    RETURN_IF_ERROR(controls_[shard]->ReleaseCut());
  }
  snapshot_ = std::move(cut);
  return absl::OkStatus();
}

absl::Status Coordinator::SaveCut() {
  saved_at_ = clock_.Now();
  if (store_ == nullptr || saved_step_ == snapshot_.step) return absl::OkStatus();
  RETURN_IF_ERROR(store_->Save(snapshot_)).With("save checkpoint");
  saved_step_ = snapshot_.step;
  Log(LogLevel::kInfo, "checkpoint saved", {{"step", std::to_string(saved_step_)}});
  return absl::OkStatus();
}

absl::Status Coordinator::TrainOnWithout(const absl::Status& status) {
  if (!absl::IsUnavailable(status)) {
    if (status.ok() && saved_step_ == snapshot_.step) save_again_at_.reset();
    return status;
  }
  save_again_at_ = clock_.Now() + kDiskRetry;
  const std::string text =
      "checkpoint directory not to be written, training on: " + std::string(status.message());
  Log(LogLevel::kError, text);
  board_.SetState(RunState::kTraining, text);
  return absl::OkStatus();
}

absl::Status Coordinator::SaveWhatIsThere() {
  if (controls_.empty() || store_ == nullptr) return absl::OkStatus();
  board_.SetState(RunState::kSaving, "told to stop: saving a last checkpoint");
  RETURN_IF_ERROR(TakeCut());
  return SaveCut();
}

absl::Status Coordinator::Finish() {
  {
    std::lock_guard lock(mutex_);
    trained_ = true;
    changed_.notify_all();
  }
  board_.SetState(RunState::kSaving);
  RETURN_IF_ERROR(SaveCut());
  board_.SetState(RunState::kEvaluating);
  ASSIGN_OR_RETURN(std::optional<Evaluation> evaluation, task_.Evaluate(snapshot_.spans()));
  if (evaluation) {
    evaluation->step = snapshot_.step;
    board_.SetEvaluation(*evaluation);
    options_.on_evaluation(*evaluation);
  }
  Lock lock(mutex_);
  done_ = true;
  ready_ = false;
  ++view_;
  changed_.notify_all();
  const bool all_left = changed_.wait_for(lock, kFarewell, [&] {
    // Who has not joined yet (the job was short, or this chief came only for the end) would else
    // look for a chief that is gone.
    return membership_.members().size() >= options_.cluster.size() - 1 &&
           std::all_of(
               membership_.members().begin(), membership_.members().end(),
               [](const auto& entry) { return entry.second.left || entry.second.lost; });
  });
  if (!all_left) Log(LogLevel::kWarning, "a replica has not taken leave; ending without it");
  board_.SetState(RunState::kDone);
  return absl::OkStatus();
}

void Coordinator::PauseWork(RunState state, const std::string& why) {
  board_.SetState(state, why);
  std::lock_guard lock(mutex_);
  ready_ = false;
  waiting_for_ = why;
  ++view_;
  changed_.notify_all();
}

void Coordinator::ShowPeers() {
  const Clock::Time now = clock_.Now();
  if (now - shown_at_ < kShowPeersEvery) return;
  shown_at_ = now;
  std::vector<PeerStatus> shown;
  std::lock_guard lock(mutex_);
  std::map<ReplicaId, std::string> addresses;
  for (const auto& [role, list] : options_.cluster.addresses) {
    for (int i = 0; i < static_cast<int>(list.size()); ++i) {
      addresses[{role, i}] = list[static_cast<size_t>(i)];
    }
  }
  // Workers that were added later are in nobody's list.
  for (const auto& [replica, member] : membership_.members()) addresses[replica];
  addresses.erase(options_.cluster.self);
  for (const auto& [replica, address] : addresses) {
    const Membership::Member* member = membership_.Find(replica);
    PeerStatus peer{.role = replica.role, .index = replica.index, .address = address};
    if (member == nullptr) {
      peer.state = "Missing";
      peer.error = probe_errors_[replica];
    } else {
      const wire::Report& report = peers_[replica].report;
      peer.state = member->lost ? "Lost" : member->left ? "Left" : "Joined";
      peer.error = member->lost ? "silent for more than 10 s" : report.message();
      peer.bytes = report.bytes();
      const auto ago = std::chrono::duration_cast<Clock::WallTime::duration>(
          now - (member->lost ? member->heard : member->joined));
      peer.since = FormatRfc3339(clock_.WallNow() - ago);
      if (!member->bulk_address.empty()) peer.address = member->bulk_address;
    }
    shown.push_back(std::move(peer));
  }
  board_.SetPeers(std::move(shown));
}

}  // namespace taas
