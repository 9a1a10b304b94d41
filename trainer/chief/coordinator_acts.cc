// What the chief does besides cuts: holders that come and go, generations, members.

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "operator/base/hash.h"
#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/chief/coordinator.h"
#include "trainer/comm/channel.h"

namespace taas {
namespace {

// How long the coordinator looks away: WAIT_STEP answers at once at its step, this bounds the rest
// (fences, lost members, signals).
constexpr std::chrono::milliseconds kLookAway{50};
// Of kRetryPause, where each attempt is refused.
constexpr std::chrono::milliseconds kRetryPauseMax{2'000};
// A missing peer's address is tried this often to say why it is missing.
constexpr std::chrono::milliseconds kProbeEvery{2'000};
constexpr std::chrono::milliseconds kProbePatience{500};
constexpr Clock::Duration kShowPeersEvery = std::chrono::milliseconds(500);

}  // namespace

void Coordinator::Excuse() {
  desk_.With([](FrontDesk::State& state) {
    state.roster.LetGo(state.roster.going());
    state.roster.ForgetGoing();
    state.Wake();
  });
}

void Coordinator::AwaitHolders() {
  const Clock::Time now = clock_.Now();
  if (awaited_.empty()) {
    awaited_since_ = now;
    // The first line a moment later: at the start of a job everybody is missing for a few
    // milliseconds.
    wait_logged_ = now + kProbeEvery - kWaitLogEvery;
    probed_.clear();
  }
  std::vector<ReplicaId> missing;
  desk_.With([&](FrontDesk::State& state) {
    missing = state.roster.Missing("ps");
    if (!missing.empty()) awaited_ = state.roster.DescribeMissing(missing, now);
    state.waiting_for = awaited_;
  });
  if (missing.empty()) return;
  board_.SetState(RunState::kWaitingForPeers, awaited_);
  ShowPeers();
  if (now - wait_logged_ >= kWaitLogEvery) {
    wait_logged_ = now;
    Log(LogLevel::kWarning, awaited_);
  }
  Probe(missing);
  desk_.WaitUntil(kLookAway, [&](const FrontDesk::State& state) {
    return !state.failure.ok() || !state.roster.going().empty() ||
           state.roster.Missing("ps") != missing;
  });
}

// One in a turn: an address that swallows packets must not keep the start from going on when all
// are there.
void Coordinator::Probe(const std::vector<ReplicaId>& missing) {
  const Clock::Time now = clock_.Now();
  const auto due = std::ranges::find_if(missing, [&](const ReplicaId& replica) {
    return !probed_.contains(replica) || now - probed_[replica] >= kProbeEvery;
  });
  if (due == missing.end()) return;
  probed_[*due] = now;
  const auto channel =
      comm::Channel::Connect(options_.cluster.address(*due), {.patience = kProbePatience});
  desk_.With([&](FrontDesk::State& state) {
    state.roster.SetProbe(*due, channel.ok() ? "" : std::string(channel.status().message()));
  });
}

absl::Status Coordinator::Begin() {
  awaited_.clear();
  ModelHolder::Generation generation;
  holders_.clear();
  RETURN_IF_ERROR(desk_.With([&](FrontDesk::State& state) -> absl::Status {
    for (int i = 0; i < options_.cluster.count("ps"); ++i) {
      const Membership::Member* const member = state.roster.Find(ReplicaId{"ps", i});
      if (member == nullptr || member->lost) return absl::UnavailableError("a shard has gone");
      generation.addresses.push_back(member->bulk_address);
      holders_.push_back(member->incarnation);
    }
    generation.number = std::max(state.generation, state.seen_generation) + 1;
    generation.members = state.roster.Training();
    state.generation = state.seen_generation = generation.number;
    state.shards = generation.addresses;
    state.ready = false;
    ++state.view;
    return absl::OkStatus();
  }));
  RETURN_IF_ERROR(holder_->Begin(generation, *cut_));
  model_ = ChiefView::Model::kHeld;
  began_ = true;
  pause_ = kRetryPause;
  step_ = cut_->step;
  board_.SetState(RunState::kTraining);
  board_.SetStep(step_);
  desk_.With([&](FrontDesk::State& state) {
    state.leases.Reset(cut_->committed,
                       cut_->committed.size() + options_.config.max_steps - step_);
    state.roster.StartOver();
    state.named = std::move(generation.members);
    state.GoOn();
  });
  return absl::OkStatus();
}

bool Coordinator::Replaced(const FrontDesk::State& state) const {
  for (size_t shard = 0; shard < holders_.size(); ++shard) {
    const Membership::Member* const member =
        state.roster.Find(ReplicaId{"ps", static_cast<int>(shard)});
    if (member == nullptr || member->lost || member->left ||
        member->incarnation != holders_[shard]) {
      return true;
    }
  }
  return false;
}

absl::Status Coordinator::Reconnect(const StopFlag& stop) {
  const absl::Status status = holder_->Reconnect();
  if (status.ok()) {
    model_ = ChiefView::Model::kHeld;
    broken_ = absl::OkStatus();
    board_.SetState(RunState::kTraining);
    // The work may have been paused for a cut that then failed.
    desk_.With([](FrontDesk::State& state) { state.GoOn(); });
    return absl::OkStatus();
  }
  if (absl::IsAborted(status)) return std::exchange(broken_, absl::OkStatus());
  ShowWaiting(status);
  stop.WaitFor(kRetryPause);
  return absl::OkStatus();
}

void Coordinator::GoBack(const absl::Status& broken, const StopFlag& stop) {
  const absl::Status why =
      broken.ok() ? absl::AbortedError("a parameter server was replaced") : broken;
  model_ = ChiefView::Model::kNowhere;
  broken_ = absl::OkStatus();
  const std::string step = std::to_string(cut_->step);
  PauseWork(RunState::kRestoring, "restoring step " + step + " on the parameter servers: " +
                                      std::string(why.message()));
  Log(LogLevel::kWarning, "parameter server lost; going back to the last cut",
      {{"step", step}, {"why", why.ToString()}});
  options_.wait(stop, pause_);
  pause_ = std::min(pause_ * 2, kRetryPauseMax);
}

absl::Status Coordinator::LetGo() {
  const auto going = desk_.With([](FrontDesk::State& state) {
    const std::map<ReplicaId, Incarnation> all = state.roster.going();
    state.roster.ForgetGoing();
    return all;
  });
  const std::string why = going.begin()->first.name() + " was told to stop";
  PauseWork(RunState::kRestoring, why);
  RETURN_IF_ERROR(TakeCut());
  // All that is held is in the cut.
  model_ = ChiefView::Model::kOutOfTouch;
  broken_ = absl::AbortedError(why);
  desk_.With([&](FrontDesk::State& state) {
    state.roster.LetGo(going);
    state.Wake();
  });
  return absl::OkStatus();
}

absl::Status Coordinator::Fence() {
  const Roster::Lost lost =
      desk_.With([](FrontDesk::State& state) { return state.roster.lost().back(); });
  ASSIGN_OR_RETURN(const ModelHolder::Progress progress, holder_->Fence(lost.pusher));
  desk_.With([&](FrontDesk::State& state) {
    const size_t reclaimed = state.leases.Reclaim(lost.pusher, progress.committed);
    state.roster.Fenced(lost.pusher);
    Log(LogLevel::kInfo, "replica fenced",
        {{"replica", lost.name},
         {"start", HexOf(lost.pusher.start)},
         {"batches", std::to_string(reclaimed)}});
    if (reclaimed > 0) state.Wake();
  });
  return absl::OkStatus();
}

absl::Status Coordinator::Name() {
  std::set<Pusher> members =
      desk_.With([](FrontDesk::State& state) { return state.roster.Training(); });
  RETURN_IF_ERROR(holder_->Name(members));
  desk_.With([&](FrontDesk::State& state) {
    state.named = std::move(members);
    state.Wake();
  });
  return absl::OkStatus();
}

absl::Status Coordinator::Train() {
  const std::set<int64_t> finished =
      desk_.With([](FrontDesk::State& state) { return state.leases.finished(); });
  const int64_t last = options_.config.max_steps;
  const int64_t target = saving_ ? last : saves_.NextDue(step_, last);
  ASSIGN_OR_RETURN(const ModelHolder::Progress progress, holder_->WaitStep(target, kLookAway));
  step_ = progress.step;
  board_.SetStep(step_);
  ShowPeers();
  desk_.With([&](FrontDesk::State& state) {
    state.leases.Trim(progress.committed);
    // The state is younger than their end: what it lacks was dropped.
    if (state.leases.Settle(finished, progress.committed) > 0) state.Wake();
    for (const Pusher& pusher : progress.gone) {
      // Nobody waits for its silence. If it lives and comes back it may find that others have done
      // the same; each counts once.
      const size_t reclaimed = state.leases.Reclaim(pusher, progress.committed);
      if (reclaimed == 0) continue;
      Log(LogLevel::kInfo, "connection of a replica broke; its batches go to others",
          {{"rank", std::to_string(pusher.rank)}, {"batches", std::to_string(reclaimed)}});
      state.Wake();
    }
  });
  return absl::OkStatus();
}

void Coordinator::PauseWork(RunState state, const std::string& why) {
  board_.SetState(state, why);
  desk_.With([&](FrontDesk::State& at_desk) { at_desk.Pause(why); });
}

void Coordinator::ShowWaiting(const absl::Status& broken) {
  const std::string why = "waiting for a parameter server: " + std::string(broken.message());
  desk_.With([&](FrontDesk::State& state) { state.waiting_for = why; });
  board_.SetState(RunState::kWaitingForPeers, why);
}

void Coordinator::ShowPeers() {
  const Clock::Time now = clock_.Now();
  if (now - shown_at_ < kShowPeersEvery) return;
  shown_at_ = now;
  board_.SetPeers(desk_.With([&](FrontDesk::State& state) { return state.roster.Peers(clock_); }));
}

}  // namespace taas
