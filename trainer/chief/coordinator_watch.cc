// A generation while it trains: how far it is, who is lost, which parameter server is replaced.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/chief/coordinator.h"

namespace taas {
namespace {

// How long the coordinator looks away: WAIT_STEP answers at once at its step, this bounds the rest
// (fences, lost members, signals).
constexpr std::chrono::milliseconds kLookAway{50};
constexpr std::chrono::milliseconds kRetryPause{50};

std::string HexStart(uint64_t start) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(start));
  return text;
}

}  // namespace

absl::Status Coordinator::Watch(const StopFlag& stop) {
  const TrainerConfig& config = options_.config;
  for (;;) {
    if (stop.stopped()) return absl::CancelledError("stopped");
    RETURN_IF_ERROR(Failure());
    if (step_ >= config.max_steps) return absl::OkStatus();
    if (store_ != nullptr) {
      RETURN_IF_ERROR(GoOn(store_->KeepAlive()));
    }
    absl::Status status = WatchOnce(saves_.NextDue(step_, config.max_steps));
    if (status.ok()) status = LetGo();
    if (status.ok() && ShardsReplaced()) {
      return absl::AbortedError("a parameter server was replaced");
    }
    if (status.ok()) {
      if (saves_.Due(step_)) {
        status = TakeCut();
        if (status.ok()) {
          RETURN_IF_ERROR(SaveBesideTraining());
        }
      } else if (saves_.DueAgain()) {
        RETURN_IF_ERROR(SaveBesideTraining());
      }
    }
    if (absl::IsUnavailable(status) || absl::IsAborted(status)) {
      answering_ = false;
      status = Resume(stop, status);
    }
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
                   CutOffAtStop(*controls_[0], [&] {
                     return controls_[0]->WaitStep(target, kLookAway);
                   }));
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
    for (const Pusher& pusher : state.gone) {
      // Nobody waits for its silence. If it lives and comes back it may find that others have done
      // the same; each counts once.
      const size_t reclaimed = leases_.Reclaim(pusher, state.committed);
      if (reclaimed == 0) continue;
      Log(LogLevel::kInfo, "connection of a replica broke; its batches go to others",
          {{"rank", std::to_string(pusher.rank)}, {"batches", std::to_string(reclaimed)}});
      changed_.notify_all();
    }
    for (const Membership::Member& member : membership_.Sweep(clock_.Now())) {
      Log(LogLevel::kWarning, "replica silent for more than 10 s; its batches go to others",
          {{"replica", member.replica.name()}});
      GiveUp(member.replica, member.incarnation);
    }
    ForgetPeers();
  }
  RETURN_IF_ERROR(FenceLost());
  return NameMembers();
}

absl::Status Coordinator::NameMembers() {
  std::set<Pusher> members;
  {
    std::lock_guard lock(mutex_);
    members = TrainingMembers();
    if (members == named_) return absl::OkStatus();
  }
  const std::vector<Pusher> list(members.begin(), members.end());
  for (const auto& control : controls_) {
    RETURN_IF_ERROR(CutOffAtStop(*control, [&] { return control->Name(list); }));
  }
  std::lock_guard lock(mutex_);
  named_ = std::move(members);
  changed_.notify_all();
  return absl::OkStatus();
}

absl::Status Coordinator::FenceLost() {
  for (;;) {
    Lost lost;
    {
      std::lock_guard lock(mutex_);
      if (lost_.empty()) return absl::OkStatus();
      lost = lost_.back();
    }
    ASSIGN_OR_RETURN(
        const ps::ShardControl::State state,
        CutOffAtStop(*controls_[0], [&] { return controls_[0]->Fence(lost.pusher); }));
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

absl::Status Coordinator::LetGo() {
  std::map<ReplicaId, Incarnation> going;
  {
    std::lock_guard lock(mutex_);
    going.swap(going_);
  }
  if (going.empty()) return absl::OkStatus();
  const std::string name = going.begin()->first.name();
  PauseWork(RunState::kRestoring, name + " was told to stop");
  RETURN_IF_ERROR(TakeCut());
  std::lock_guard lock(mutex_);
  for (const auto& [replica, incarnation] : going) membership_.Leave(replica, incarnation);
  changed_.notify_all();
  return absl::AbortedError(name + " was told to stop");
}

absl::Status Coordinator::SaveBesideTraining() {
  const absl::Status status = GoOn(SaveCut(/*beside_training=*/true));
  if (next_cut_) snapshot_ = *std::exchange(next_cut_, std::nullopt);
  return status;
}

absl::Status Coordinator::WatchWhileSaving() {
  std::future<absl::Status> saving =
      std::async(std::launch::async, [this] { return store_->Save(snapshot_); });
  // Most disks are done before anything else is looked at.
  const auto saved = [&] { return saving.wait_for(kLookAway) == std::future_status::ready; };
  // What is broken, and what is done, is seen to when the disk has all.
  while (!saved() && step_ < options_.config.max_steps && !next_cut_) {
    if (!WatchOnce(options_.config.max_steps).ok()) break;
    std::map<ReplicaId, Incarnation> going;
    {
      std::lock_guard lock(mutex_);
      going = going_;
    }
    if (going.empty()) continue;
    const std::string name = going.begin()->first.name();
    PauseWork(RunState::kRestoring, name + " was told to stop");
    Snapshot cut = snapshot_;
    if (!ReadCutInto(cut).ok()) break;
    next_cut_ = std::move(cut);
    std::lock_guard lock(mutex_);
    for (const auto& [replica, incarnation] : going) membership_.Leave(replica, incarnation);
    changed_.notify_all();
  }
  return saving.get();
}

bool Coordinator::ShardsReplaced() {
  std::lock_guard lock(mutex_);
  for (size_t shard = 0; shard < shard_incarnations_.size(); ++shard) {
    const Membership::Member* member = membership_.Find({"ps", static_cast<int>(shard)});
    if (member == nullptr || member->lost || member->left ||
        member->incarnation != shard_incarnations_[shard]) {
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
      auto control = ps::ShardControl::Connect(address, {.job = JobKey(options_.job)});
      if (!control.ok()) {
        last = control.status();
        break;
      }
      const auto generation =
          CutOffAtStop(**control, [&] { return (*control)->Generation(); });
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
      const auto state = CutOffAtStop(*controls[0], [&] {
        return controls[0]->WaitStep(0, std::chrono::milliseconds(0));
      });
      if (!state.ok()) return broken;
      controls_ = std::move(controls);
      answering_ = true;
      board_.SetState(RunState::kTraining);
      std::lock_guard lock(mutex_);
      waiting_for_.clear();
      // The work may have been paused for a cut that then failed.
      ready_ = true;
      ++view_;
      changed_.notify_all();
      return absl::OkStatus();
    }
    stop.WaitFor(kRetryPause);
  }
  return stop.stopped() ? absl::CancelledError("stopped") : broken;
}

}  // namespace taas
