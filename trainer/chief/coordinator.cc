#include "trainer/chief/coordinator.h"

#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/chief/shard_set.h"
#include "trainer/graph/machine_fault.h"
#include "trainer/ps/layout.h"
#include "trainer/task/first_and_last.h"

namespace taas {
namespace {

// Between looks at a disk that is all that is waited for.
constexpr std::chrono::milliseconds kLookAtDisk{20};
// Replicas leave in milliseconds once told; one that does not must not keep the job from ending.
constexpr std::chrono::seconds kFarewell{5};

}  // namespace

Coordinator::Coordinator(const Clock& clock, Options options, StatusBoard& board,
                         TrainingTask& task, SnapshotStore* store)
    : clock_(clock),
      options_(std::move(options)),
      board_(board),
      task_(task),
      store_(store),
      desk_(clock, {.cluster = options_.cluster,
                    .job = options_.job,
                    .config_hash = ConfigHash(options_.config),
                    .data_identity = task.data_identity(),
                    .self = options_.self}),
      saves_(clock, board,
             {.steps = options_.config.checkpoint_steps,
              .seconds = std::chrono::seconds(options_.config.checkpoint_seconds)}) {}

absl::Status Coordinator::Run(const StopFlag& stop) {
  const absl::Status status = RunToEnd(stop);
  saving_.reset();  // Waits for the disk.
  holder_.reset();
  if (!status.ok()) desk_.Fail(status);
  return status;
}

absl::Status Coordinator::RunToEnd(const StopFlag& stop) {
  RETURN_IF_ERROR(LoadStart(stop));
  for (ChiefAction before = ChiefAction::kTrain;;) {
    LookAtDisk();
    const ChiefAction action = NextAction(Look(stop));
    if (action != before) {
      Log(LogLevel::kDebug, "what is next", {{"action", std::string(NameOf(action))}});
    }
    before = action;
    switch (action) {
      case ChiefAction::kEndStopped:
      case ChiefAction::kEndFailed:
      case ChiefAction::kGiveUp:
      case ChiefAction::kFinish: return End(action, stop);
      default: break;
    }
    const absl::Status status = Act(action, stop);
    if (!status.ok()) {
      RETURN_IF_ERROR(Mend(status, stop));
    }
  }
}

absl::Status Coordinator::LoadStart(const StopFlag& stop) {
  const TrainerConfig& config = options_.config;
  ASSIGN_OR_RETURN(optimizer_, Optimizer::Parse(config.optimizer));
  int aggregate = 0;
  if (config.mode == UpdateMode::kSync) {
    const auto replicas = static_cast<int64_t>(options_.cluster.training_replicas().size());
    ASSIGN_OR_RETURN(const int64_t gradients, GradientsPerStep(config, replicas));
    aggregate = static_cast<int>(gradients);
  } else if (config.max_staleness) {
    aggregate = 1;  // The servers say whose turn it is.
  }
  desk_.With([&](FrontDesk::State& state) { state.aggregate = aggregate; });
  holder_ = MakeHolder(aggregate, stop);
  board_.SetState(RunState::kRestoring, "reading the last checkpoint");
  RETURN_IF_ERROR(task_.session().InitializeVariables(config.seed));
  ASSIGN_OR_RETURN(Snapshot start, InitialSnapshot(task_.session()));
  start.slots = InitialSlots(*optimizer_, task_.session().variables(), start.values);
  bool found = false;
  if (store_ != nullptr) {
    ASSIGN_OR_RETURN(found, LoadLast(TriesUntil(stop), *store_, &start));
  }
  if (found) {
    RETURN_IF_ERROR(RestoreUntrained(start, task_.session()));
  }
  saves_.Start(start.step, found);
  if (store_ != nullptr) board_.SetStep(start.step);
  cut_ = std::make_shared<Snapshot>(std::move(start));
  return absl::OkStatus();
}

std::unique_ptr<ModelHolder> Coordinator::MakeHolder(int aggregate,
                                                     const StopFlag& stop) const {
  const ClusterSpec& cluster = options_.cluster;
  return std::make_unique<ShardSet>(
      clock_, stop,
      ShardSet::Options{
          .layout = ps::SplitByBytes(SizesOf(task_.session()), cluster.count("ps")),
          .job = JobKey(options_.job),
          .optimizer = options_.config.optimizer,
          .max_steps = options_.config.max_steps,
          .aggregate = aggregate,
          .max_staleness = options_.config.max_staleness,
          .chief_pod = options_.self.pod,
          .record = options_.record});
}

ChiefView Coordinator::Look(const StopFlag& stop) {
  const Clock::Time now = clock_.Now();
  ChiefView view{.model = model_,
                 .step = step_,
                 .cut_step = cut_->step,
                 .max_steps = options_.config.max_steps,
                 .stopped = stop.stopped(),
                 .waited = awaited_.empty() ? Clock::Duration{} : now - awaited_since_,
                 .patience = options_.limits.start,
                 .saving = saving_.has_value(),
                 .save_due = saves_.Due(step_),
                 .save_failed = saves_.DueAgain()};
  desk_.With([&](FrontDesk::State& state) {
    for (const ReplicaId& silent : state.roster.Sweep(now)) {
      Log(LogLevel::kWarning, "replica silent for more than 10 s; its batches go to others",
          {{"replica", silent.name()}});
    }
    view.failed = !state.failure.ok();
    view.missing = state.roster.Missing("ps").size();
    view.going = !state.roster.going().empty();
    view.replaced = Replaced(state);
    view.lost = !state.roster.lost().empty();
    view.changed = state.roster.Training() != state.named;
  });
  return view;
}

absl::Status Coordinator::Act(ChiefAction action, const StopFlag& stop) {
  switch (action) {
    case ChiefAction::kAwaitDisk: saving_->result.wait_for(kLookAtDisk); break;
    case ChiefAction::kExcuse: Excuse(); break;
    case ChiefAction::kAwaitHolders: AwaitHolders(); break;
    case ChiefAction::kBegin: return Begin();
    case ChiefAction::kReconnect: return Reconnect(stop);
    case ChiefAction::kGoBack: GoBack(broken_, stop); break;
    case ChiefAction::kLetGo: return LetGo();
    case ChiefAction::kFence: return Fence();
    case ChiefAction::kName: return Name();
    case ChiefAction::kCut: return TakeCut();
    case ChiefAction::kSave: {
      RETURN_IF_ERROR(TakeCut());
      SaveBeside();
      break;
    }
    case ChiefAction::kSaveAgain: SaveBeside(); break;
    default: return Train();
  }
  return absl::OkStatus();
}

absl::Status Coordinator::Mend(const absl::Status& broken, const StopFlag& stop) {
  const bool connection = absl::IsUnavailable(broken) || absl::IsAborted(broken);
  if (model_ == ChiefView::Model::kHeld && connection) {
    model_ = ChiefView::Model::kOutOfTouch;
    broken_ = broken;
    // Before it is tried: one that is frozen takes the connection, and its time.
    ShowWaiting(broken);
    return absl::OkStatus();
  }
  const Reaction reaction = ReactionTo(broken.code(), {TrainerRole::kChief, ErrorAt::kPeer});
  if (reaction.patience != Patience::kAlways) return broken;
  GoBack(broken, stop);
  return absl::OkStatus();
}

absl::Status Coordinator::End(ChiefAction action, const StopFlag& stop) {
  switch (action) {
    case ChiefAction::kEndStopped:
      SaveLast();
      return absl::CancelledError(awaited_.empty() ? "stopped" : "stopped while " + awaited_);
    case ChiefAction::kEndFailed: {
      const absl::Status own = desk_.With([](FrontDesk::State& state) { return state.failure; });
      if (ExitCodeOf(own) == kExitRestart || IsMachineFault(own)) SaveLast();
      return own;
    }
    case ChiefAction::kGiveUp:
      SaveLast();
      return absl::DeadlineExceededError(awaited_ + ", given up after " +
                                         SecondsOf(options_.limits.start));
    default: return Finish(stop);
  }
}

absl::Status Coordinator::Finish(const StopFlag& stop) {
  desk_.With([](FrontDesk::State& state) {
    state.trained = true;
    state.Wake();
  });
  Trained trained{cut_->step, TensorsOf(cut_->values), TensorsOf(cut_->values)};
  if (const auto average = optimizer_->average_slot()) {
    const std::vector<TensorRef> averages = TensorsOf(cut_->slots[*average]);
    for (size_t i = 0; i < averages.size(); ++i) {
      if (!averages[i].empty()) trained.evaluated[i] = averages[i];
    }
  }
  RETURN_IF_ERROR(FinishTraining(
      TriesUntil(stop), task_, trained, [this] { return SaveNow(); }, options_.on_evaluation));
  TakeFarewell(stop);
  board_.SetState(RunState::kDone);
  return absl::OkStatus();
}

void Coordinator::TakeFarewell(const StopFlag& stop) {
  desk_.With([&](FrontDesk::State& state) {
    state.done = true;
    state.end_step = cut_->step;
    state.ready = false;
    state.Announce();
  });
  const auto all_left = [](const FrontDesk::State& state) { return state.roster.AllLeft(); };
  const Clock::Time until = clock_.Now() + kFarewell;
  while (!desk_.With(all_left)) {
    if (stop.stopped() || clock_.Now() >= until) {
      Log(LogLevel::kWarning, "a replica has not taken leave; ending without it");
      return;
    }
    desk_.WaitUntil(kLookForStop, all_left);
  }
}

}  // namespace taas
