// The replicas of a job that trains by all-reduce: the chief, which is rank 0, leads the epochs and
// keeps the checkpoints; every worker is a rank.

#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/cluster/chief_server.h"
#include "trainer/cmd/reception.h"
#include "trainer/cmd/role.h"
#include "trainer/collective/exchange.h"
#include "trainer/collective/meeting.h"
#include "trainer/comm/listener.h"
#include "trainer/cut/training_saves.h"
#include "trainer/replica/member.h"
#include "trainer/ring/gradient_area.h"
#include "trainer/ring/rank_loop.h"
#include "trainer/ring/ring.h"
#include "trainer/ring/ring_desk.h"
#include "trainer/task/first_and_last.h"
#include "trainer/task/model_update.h"

namespace taas {
namespace {

// Replicas leave in milliseconds once told; one that does not must not keep the job from ending.
constexpr std::chrono::seconds kFarewell{5};
// Whoever ends this process is not to wait for a chief that does not answer.
constexpr std::chrono::milliseconds kFarewellPatience{100};

// What every rank has, whoever leads it.
class OwnRank {
 public:
  // `area` is that of the task's gradients.
  static absl::StatusOr<std::unique_ptr<OwnRank>> Make(Role& role, ModelTask& task,
                                                       const GradientArea& area) {
    std::unique_ptr<OwnRank> rank(new OwnRank(role, task, area));
    RETURN_IF_ERROR(rank->Start(role));
    return rank;
  }

  const std::string& address() const { return address_; }
  Ring& ring() { return ring_; }
  const Optimizer& optimizer() const { return *optimizer_; }
  const ModelUpdate& update() const { return *update_; }

  // An epoch begins behind `step`. Rates that follow the number of gradients in a step (the
  // optimizer's scaleByWorkers) follow that of its ranks.
  absl::Status Begin(int64_t step) {
    ASSIGN_OR_RETURN(auto rates, Optimizer::Parse(config_.optimizer, ring_.ranks()));
    rates->StartAfter(step);
    update_->TakeRatesOf(*rates);
    rates_ = std::move(rates);
    return absl::OkStatus();
  }

  absl::Status Train(EpochSource& source, int64_t max_steps, RankLoop::Hooks hooks) {
    return RankLoop(source, ring_, task_, *update_,
                    {.max_steps = max_steps, .hooks = std::move(hooks)})
        .Run();
  }

 private:
  OwnRank(Role& role, ModelTask& task, const GradientArea& area)
      : config_(role.config()),
        task_(task),
        meeting_({.job = JobKey(role.job()), .lent = area.lent()}),
        peers_(role.MakePeers()),
        ring_(meeting_, task.session(), static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)),
              {.rows = {.wire = role.config().gradient_precision == "bfloat16"
                                    ? collective::Wire::kBFloat16
                                    : collective::Wire::kFloat32},
               .device = peers_.group.get(),
               .no_device = peers_.why_not,
               .stuck = [&role](const absl::Status& why) { role.EndNow(why); }}) {}

  absl::Status Start(Role& role) {
    ASSIGN_OR_RETURN(optimizer_, Optimizer::Parse(role.config().optimizer));
    RETURN_IF_ERROR(task_.session().InitializeVariables(role.config().seed));
    ASSIGN_OR_RETURN(update_, ModelUpdate::Make(*optimizer_, task_.session()));
    ASSIGN_OR_RETURN(listener_, comm::Listener::Open(
                                    {.host = role.place().listen_host()},
                                    [this](comm::Channel& channel) { meeting_.Serve(channel); }));
    address_ = role.place().host() + ":" + std::to_string(listener_->port());
    return absl::OkStatus();
  }

  const TrainerConfig& config_;
  ModelTask& task_;
  std::unique_ptr<Optimizer> optimizer_, rates_;
  std::unique_ptr<ModelUpdate> update_;
  collective::Meeting meeting_;
  std::unique_ptr<comm::Listener> listener_;
  std::string address_;
  const Role::Peers peers_;
  Ring ring_;
};

// Whether there were new ones.
bool ShowShares(const StepTimes& times, ShareMeter& meter, StatusBoard& board) {
  const std::optional<RankShares> shares = meter.Add(times);
  if (shares) board.SetShares(*shares);
  return shares.has_value();
}

// The chief's part besides its rank: checkpoints, and what the job has to show.
class Lead {
 public:
  Lead(Role& role, ModelTask& task, OwnRank& rank, SnapshotStore* store, StepLog& log)
      : role_(role),
        task_(task),
        rank_(rank),
        store_(store),
        log_(log),
        saves_(role.clock(), role.board(),
               {.steps = role.config().checkpoint_steps,
                .seconds = std::chrono::seconds(role.config().checkpoint_seconds)},
               store) {}

  RankLoop::Hooks Hooks(RingDesk& desk) {
    const auto on_times = [this, &desk](const StepTimes& times) {
      // The others say theirs as often.
      if (ShowShares(times, meter_, role_.board())) role_.board().SetPeers(desk.Peers());
    };
    return {.start = [this] { return Begin(); },
            .before_update = [this] { saves_.Detach(); },
            .on_epoch = [this, &desk](const Standing& standing) { return OnEpoch(desk, standing); },
            .after_step = [this](const Standing& standing,
                                 float loss) { return OnStep(standing, loss); },
            .on_times = on_times,
            .at_end = [this, &desk](const Standing& standing) { return End(desk, standing); }};
  }

  // The process ends before the job does.
  void SaveWhatIsThere() {
    SaveBeforeEnd(role_.board(),
                  [this] { return saves_.Now(standing_.step, standing_.committed); });
  }

 private:
  // The last checkpoint, or the model of the seed.
  absl::StatusOr<Standing> Begin() {
    Session& session = task_.session();
    RETURN_IF_ERROR(session.InitializeVariables(role_.config().seed));
    ASSIGN_OR_RETURN(Snapshot start, InitialSnapshot(session));
    start.slots = InitialSlots(rank_.optimizer(), session.variables(), start.values);
    bool found = false;
    if (store_ != nullptr) {
      ASSIGN_OR_RETURN(found, LoadLast(role_.TriesUntil(role_.stop()), *store_, &start));
    }
    RETURN_IF_ERROR(Restore(start, session));
    standing_ = {start.step, start.committed};
    saves_.Start(standing_.step, found, session.model());
    return standing_;
  }

  absl::Status OnEpoch(RingDesk& desk, const Standing& standing) {
    standing_ = standing;
    meter_.StartOver();
    role_.board().SetStep(standing.step);
    role_.board().SetState(RunState::kTraining);
    role_.board().SetPeers(desk.Peers());
    const int64_t examples = ExamplesPerStep(role_.config(), rank_.ring().ranks());
    role_.board().SetBatchSize(examples);
    log_.Start(standing.step, examples);
    return rank_.Begin(standing.step);
  }

  absl::Status OnStep(const Standing& standing, float loss) {
    standing_ = standing;
    const double rate = log_.OnStep(standing.step, loss);
    role_.board().SetProgress(
        {.step = standing.step, .loss = loss, .examples_per_second = rate});
    return saves_.Beside(standing.step, standing.committed);
  }

  absl::Status End(RingDesk& desk, const Standing& standing) {
    standing_ = standing;
    Log(LogLevel::kInfo, "all steps are made",
        {{"step", std::to_string(standing.step)},
         {"batches", std::to_string(standing.committed.size())}});
    RETURN_IF_ERROR(FinishTraining(
        role_.TriesUntil(role_.stop()), task_,
        {standing.step, VariablesOf(task_.session()), rank_.update().Evaluated()},
        [this] { return saves_.Now(standing_.step, standing_.committed); },
        [this](const Evaluation& evaluation) { log_.OnEvaluation(evaluation); }));
    desk.Finish(standing.step);
    if (!desk.AwaitFarewell(kFarewell)) {
      Log(LogLevel::kWarning, "a replica has not taken leave; ending without it");
    }
    role_.board().SetState(RunState::kDone);
    return absl::OkStatus();
  }

  Role& role_;
  ModelTask& task_;
  OwnRank& rank_;
  SnapshotStore* const store_;
  StepLog& log_;
  TrainingSaves saves_;
  Standing standing_;
  ShareMeter meter_;
};

// How many ranks an epoch has, with the chief.
struct Bounds {
  size_t min = 1, max = 1;
};

Bounds BoundsOf(const TrainerConfig& config, const ClusterSpec& cluster) {
  if (!config.elastic) {
    const size_t ranks = cluster.training_replicas().size();
    return {ranks, ranks};
  }
  const auto with_chief = [&](int64_t workers) {
    return static_cast<size_t>(workers + cluster.count("chief"));
  };
  return {with_chief(config.elastic->min), with_chief(config.elastic->max)};
}

// Neighbours read each other's memory where they are called on loopback addresses
// (comm/local_socket.h); elsewhere gradients lie in memory of the process, with its huge pages.
GradientMemory MemoryOf(const Role& role, GradientArea& area) {
  return role.cluster().on_loopback() ? area.memory() : nullptr;
}

}  // namespace

absl::Status RunRingChief(Role& role) {
  ASSIGN_OR_RETURN(const auto status_page, role.ServeStatus());
  // Others wait for a chief that gets ready, as for that of parameter servers.
  Reception reception;
  GradientArea area;
  std::unique_ptr<ModelTask> task;
  std::unique_ptr<OwnRank> rank;
  std::unique_ptr<RingDesk> desk;  // Outlives the server, whose calls end in it.
  const absl::Status free = role.place().Try();
  if (!free.ok()) return Role::Restart(free);
  auto server = ChiefServer::Start(role.place().listen_host(), role.place().port(), reception,
                                   role.process().token);
  if (!server.ok()) return Role::Restart(server.status());
  ASSIGN_OR_RETURN(task, role.MakeTask(MemoryOf(role, area)));
  RETURN_IF_ERROR(role.TryExport());
  ASSIGN_OR_RETURN(const auto store, role.OpenStore(*task));
  const auto recorder = role.MakeRecorder(*task);
  const auto weights = role.FollowCheckpoints();
  ASSIGN_OR_RETURN(rank, OwnRank::Make(role, *task, area));
  ASSIGN_OR_RETURN(StepLog log, role.MakeStepLog(*task, recorder.get(), [&] {
    return int64_t{rank->ring().ranks()};
  }));
  const Bounds bounds = BoundsOf(role.config(), role.cluster());
  desk = std::make_unique<RingDesk>(
      role.clock(),
      RingDesk::Options{
          .roster = {.cluster = role.cluster(),
                     .job = role.job(),
                     .config_hash = ConfigHash(role.config()),
                     .data_identity = task->data_identity(),
                     .self = {role.process().pod_number, role.process().start},
                     .silence = std::chrono::seconds(role.config().heartbeat_seconds)},
          .address = rank->address(),
          .min = bounds.min,
          .max = bounds.max,
          .max_steps = role.config().max_steps,
          .on_over = [&](uint32_t epoch) { rank->ring().Abort(epoch); },
          .on_wait =
              [&](const std::string& why) {
                role.board().SetState(RunState::kWaitingForPeers, why);
                role.board().SetPeers(desk->Peers());
              },
          .stopped = [&] { return role.stop().stopped(); }});
  reception.Open(*desk);
  Lead lead(role, *task, *rank, store.get(), log);
  const absl::Status status = rank->Train(*desk, role.config().max_steps, lead.Hooks(*desk));
  if (absl::IsCancelled(status) || ExitCodeOf(status) == kExitRestart) lead.SaveWhatIsThere();
  desk->Close();
  role.EndRecording(*task, *recorder, status);
  return Role::Release(store.get(), status);
}

absl::Status RunRingWorker(Role& role) {
  ASSIGN_OR_RETURN(const auto status_page, role.ServeStatus());
  const absl::Status claimed = role.place().Claim();
  if (!claimed.ok()) return Role::Restart(claimed);
  GradientArea area;
  ASSIGN_OR_RETURN(const auto task, role.MakeTask(MemoryOf(role, area)));
  ASSIGN_OR_RETURN(const auto rank, OwnRank::Make(role, *task, area));
  Member::Options options = role.MemberOptions();
  options.data_identity = task->data_identity();
  options.bulk_address = rank->address();
  options.silence = std::chrono::seconds(role.config().heartbeat_seconds);
  options.on_over = [&](uint32_t epoch) { rank->ring().Abort(epoch); };
  Member member(role.clock(), std::move(options), role.board(), role.stop());
  RETURN_IF_ERROR(member.Start());
  // The chief need not miss this worker first.
  const Farewell::Scope farewell(role.farewell(), [&] { member.Leave(kFarewellPatience); });
  ASSIGN_OR_RETURN(StepLog log, role.MakeStepLog(*task, nullptr));
  ShareMeter meter;
  RETURN_IF_ERROR(rank->Train(
      member, role.config().max_steps,
      {.on_epoch =
           [&](const Standing& standing) {
             role.board().SetStep(standing.step);
             meter.StartOver();
             const int64_t examples =
                 ExamplesPerStep(role.config(), rank->ring().ranks());
             role.board().SetBatchSize(examples);
             log.Start(standing.step, examples);
             return rank->Begin(standing.step);
           },
       .after_step =
           [&](const Standing& standing, float loss) {
             log.OnStep(standing.step, loss);
             role.board().SetProgress({.step = standing.step, .loss = loss});
             return absl::OkStatus();
           },
       .on_times = [&](const StepTimes& times) { ShowShares(times, meter, role.board()); }}));
  member.Leave();
  role.board().SetState(RunState::kDone);
  return absl::OkStatus();
}

}  // namespace taas
