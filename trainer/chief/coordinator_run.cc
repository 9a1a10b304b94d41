#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/chief/coordinator.h"
#include "trainer/cluster/gpu_report.h"
#include "trainer/comm/channel.h"

namespace taas {
namespace {

// How long the coordinator looks away: WAIT_STEP answers at once at its step, this bounds the rest
// (fences, lost members, signals).
constexpr std::chrono::milliseconds kLookAway{50};
// Between attempts to begin a generation: short at first, since a parameter server is back in a
// moment, and longer where each attempt is refused.
constexpr std::chrono::milliseconds kRetryPause{50};
constexpr std::chrono::milliseconds kRetryPauseMax{2'000};
// A missing peer's address is tried this often to say why it is missing.
constexpr std::chrono::milliseconds kProbeEvery{2'000};
constexpr std::chrono::milliseconds kProbePatience{500};
constexpr Clock::Duration kShowPeersEvery = std::chrono::milliseconds(500);
// How often the stop flag is looked at, which cannot wake a thread.
constexpr std::chrono::milliseconds kLookForStop{100};

}  // namespace

absl::Status Coordinator::Run(const StopFlag& stop) {
  std::thread cut_off([&] { CutOffWhenStopped(stop); });
  const absl::Status status = RunToEnd(stop);
  {
    std::lock_guard lock(mutex_);
    if (failure_.ok() && !status.ok()) failure_ = status;
    ended_ = true;
    changed_.notify_all();
  }
  cut_off.join();
  return status;
}

void Coordinator::CutOffWhenStopped(const StopFlag& stop) {
  std::optional<Clock::Time> cut_off_at;
  Lock lock(mutex_);
  while (!ended_) {
    if (!cut_off_at && stop.stopped()) cut_off_at = clock_.Now() + kPatienceAtStop;
    if (cut_off_at && clock_.Now() >= *cut_off_at && cut_off_at_stop_ != nullptr) {
      cut_off_at_stop_->Shutdown();
      cut_off_at_stop_ = nullptr;
    }
    changed_.wait_for(lock, kLookForStop);
  }
}

absl::Status Coordinator::RunToEnd(const StopFlag& stop) {
  RETURN_IF_ERROR(LoadStart(stop));
  if (snapshot_.step >= options_.config.max_steps) {
    // The chief before this one died after its last checkpoint. Parameter servers may have ended by
    // then, and there is nothing left for them to do.
    return Finish(stop);
  }
  for (std::chrono::milliseconds pause = kRetryPause;;) {
    absl::Status status = WaitForShards(stop);
    if (status.ok()) {
      status = StartGeneration();
      if (status.ok()) {
        pause = kRetryPause;
        status = Watch(stop);
      }
      // The last cut is taken before anyone is told that all is trained: until then it can be lost
      // again.
      if (status.ok() && !saves_.is_saved(step_)) status = TakeCut();
      if (status.ok()) return Finish(stop);
    }
    if (absl::IsCancelled(status)) {
      SaveBeforeEnd();
      return status;
    }
    // An error of this process is of no class of a peer's: no generation would mend it.
    if (const absl::Status own = Failure(); !own.ok()) {
      if (ExitCodeOf(own) == kExitRestart) SaveBeforeEnd();
      return own;
    }
    const Reaction reaction =
        ReactionTo(status.code(), {TrainerRole::kChief, ErrorAt::kPeer});
    if (reaction.patience != Patience::kAlways) return status;
    PauseWork(RunState::kRestoring, "restoring step " + std::to_string(snapshot_.step) +
                                        " on the parameter servers: " +
                                        std::string(status.message()));
    Log(LogLevel::kWarning, "parameter server lost; going back to the last cut",
        {{"step", std::to_string(snapshot_.step)}, {"why", status.ToString()}});
    options_.wait(stop, pause);
    // A parameter server that refuses is there: nobody is waited for, where a stop is looked for.
    if (stop.stopped()) {
      SaveBeforeEnd();
      return absl::CancelledError("stopped before a generation began");
    }
    pause = std::min(pause * 2, kRetryPauseMax);
  }
}

absl::Status Coordinator::LoadStart(const StopFlag& stop) {
  const TrainerConfig& config = options_.config;
  ASSIGN_OR_RETURN(optimizer_, Optimizer::Parse(config.optimizer));
  if (config.mode == UpdateMode::kSync) {
    const auto replicas = static_cast<int64_t>(options_.cluster.training_replicas().size());
    ASSIGN_OR_RETURN(const int64_t gradients, GradientsPerStep(config, replicas));
    std::lock_guard lock(mutex_);
    aggregate_ = static_cast<int>(gradients);
  }
  board_.SetState(RunState::kRestoring, "reading the last checkpoint");
  RETURN_IF_ERROR(task_.session().InitializeVariables(options_.config.seed));
  ASSIGN_OR_RETURN(snapshot_, InitialSnapshot(task_.session()));
  snapshot_.slots = InitialSlots(*optimizer_, task_.session().variables(), snapshot_.values);
  saves_.Start(0, /*saved=*/false);
  if (store_ == nullptr) return absl::OkStatus();
  bool found = false;
  RETURN_IF_ERROR(TryOn(TriesUntil(stop), ErrorAt::kSetUp, "read the last checkpoint", [&] {
    const absl::StatusOr<bool> loaded = store_->Load(&snapshot_);
    found = loaded.ok() && *loaded;
    return loaded.status();
  }));
  if (found) {
    RETURN_IF_ERROR(RestoreUntrained(snapshot_, task_.session()));
    saves_.Start(snapshot_.step, /*saved=*/true);
    Log(LogLevel::kInfo, "resuming from checkpoint", {{"step", std::to_string(snapshot_.step)}});
    board_.SetResumed(snapshot_.step);
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
      // None has anything that the last cut lacks: the next generation begins with that.
      for (const auto& [replica, incarnation] : going_) membership_.Leave(replica, incarnation);
      if (!going_.empty()) changed_.notify_all();
      going_.clear();
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
    if (now - start > options_.limits.start) {
      const auto limit = std::chrono::duration_cast<std::chrono::seconds>(options_.limits.start);
      return absl::DeadlineExceededError(text + ", given up after " +
                                         std::to_string(limit.count()) + " s");
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
  std::set<Pusher> members;
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
    members = TrainingMembers();
    ready_ = false;
    ++view_;
  }
  if (options_.record != nullptr) {
    options_.record->OnGeneration({.generation = generation,
                                   .shard = -1,
                                   .shards = static_cast<int>(addresses.size()),
                                   .step = snapshot_.step});
  }
  controls_.clear();
  answering_ = false;
  for (size_t shard = 0; shard < addresses.size(); ++shard) {
    ASSIGN_OR_RETURN(auto control, ps::ShardControl::Connect(
                                       addresses[shard], {.job = JobKey(options_.job)}));
    const ps::ShardConfig config = {.generation = generation,
                                    .shard = static_cast<int>(shard),
                                    .shards = addresses,
                                    .pieces = layout_.shards[shard],
                                    .optimizer = options_.config.optimizer,
                                    .committed = snapshot_.committed,
                                    .step = snapshot_.step,
                                    .max_steps = options_.config.max_steps,
                                    .aggregate = aggregate_,
                                    .named = std::vector(members.begin(), members.end()),
                                    .chief_pod = options_.self.pod};
    const absl::Status configured = CutOffAtStop(*control, [&] {
      return control->Configure(config, SpansOf(snapshot_));
    });
    // Another program may have the port by now: as if nobody had it.
    if (absl::IsDataLoss(configured)) return absl::UnavailableError(configured.message());
    RETURN_IF_ERROR(configured);
    controls_.push_back(std::move(control));
  }
  answering_ = true;
  step_ = snapshot_.step;
  board_.SetState(RunState::kTraining);
  board_.SetStep(step_);
  std::lock_guard lock(mutex_);
  leases_.Reset(snapshot_.committed,
                snapshot_.committed.size() + options_.config.max_steps - snapshot_.step);
  // Whoever was lost before this generation holds nothing in it.
  lost_.clear();
  going_.clear();
  named_ = std::move(members);
  waiting_for_.clear();
  ready_ = true;
  ++view_;
  changed_.notify_all();
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
      if (peer.state == "Joined") peer.gpus = GpusOf(report);
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
