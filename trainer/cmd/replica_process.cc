#include "trainer/cmd/replica_process.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/cluster/chief_server.h"
#include "trainer/comm/listener.h"
#include "trainer/ps/shard.h"
#include "trainer/status/status_server.h"
#include "trainer/status/step_log.h"
#include "trainer/strategy/coordinator.h"
#include "trainer/strategy/local_strategy.h"
#include "trainer/strategy/member.h"
#include "trainer/strategy/model_task.h"
#include "trainer/strategy/replica_loop.h"

namespace taas {
namespace {

// Between two looks at a checkpoint directory that another job owns, whose lease is 30 s.
constexpr std::chrono::milliseconds kDirectoryRetry{1'000};

bool IsLocal(const ReplicaProcess& process) {
  return !process.cluster || process.config.strategy == StrategyType::kLocal;
}

bool IsChief(const ReplicaProcess& process) {
  return process.cluster && process.cluster->self == process.cluster->chief();
}

// A place in the network, taken before anything slow is done.
class Place {
 public:
  Place() = default;
  ~Place() {
    if (claim_ >= 0) close(claim_);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  absl::Status Resolve(const ClusterSpec& cluster) {
    ASSIGN_OR_RETURN(const auto split, comm::SplitAddress(cluster.address(cluster.self)));
    host_ = split.first;
    port_ = std::stoi(split.second);
    if (cluster.on_loopback()) listen_host_ = host_ == "localhost" ? "127.0.0.1" : host_;
    return absl::OkStatus();
  }
  // Holds the port of a replica that serves nothing there, so that a wrong TF_CONFIG is noticed and
  // a peer that looks finds somebody.
  absl::Status Claim() {
    ASSIGN_OR_RETURN(claim_, comm::OpenListeningSocket(listen_host_, port_));
    return absl::OkStatus();
  }

  const std::string& host() const { return host_; }
  const std::string& listen_host() const { return listen_host_; }
  int port() const { return port_; }

 private:
  std::string host_;
  std::string listen_host_;
  int port_ = 0;
  int claim_ = -1;
};

// Answers the other replicas' calls: that the chief is not ready yet until it is, then as it says.
class Reception : public ChiefHandler {
 public:
  void Open(ChiefHandler& chief) { chief_ = &chief; }

  wire::JoinReply Join(const wire::JoinRequest& request) override {
    if (ChiefHandler* const chief = chief_) return chief->Join(request);
    wire::JoinReply reply;
    reply.set_verdict(wire::JoinReply::LATER);
    reply.set_sentence("the chief is opening the checkpoint directory");
    return reply;
  }
  wire::BeatReply Beat(const wire::BeatRequest& request) override {
    if (ChiefHandler* const chief = chief_) return chief->Beat(request);
    wire::BeatReply reply;
    reply.set_verdict(wire::BeatReply::JOIN_AGAIN);
    reply.set_sentence("the chief has started anew");
    return reply;
  }
  void Leave(const wire::LeaveRequest& request) override {
    if (ChiefHandler* const chief = chief_) chief->Leave(request);
  }

 private:
  std::atomic<ChiefHandler*> chief_ = nullptr;
};

class Process {
 public:
  Process(const ReplicaProcess& options, StatusBoard& board, const StopFlag& stop)
      : options_(options), board_(board), stop_(stop) {
    // Before the status page looks for it.
    if (options_.cluster && options_.cluster->self.role == "ps") {
      shard_ = std::make_unique<ps::Shard>();
    }
  }

  absl::Status Run() {
    if (options_.cluster) {
      RETURN_IF_ERROR(place_.Resolve(*options_.cluster));
    }
    if (options_.status_port) {
      auto server = StatusServer::Start(place_.listen_host(), *options_.status_port,
                                        [this] { return StatusBody(); });
      if (!server.ok()) return Restart(server.status());
      status_server_ = *std::move(server);
    }
    if (IsLocal(options_)) return RunLocally();
    if (options_.cluster->count("ps") == 0) {
      return absl::InvalidArgumentError(
          "strategy.type ParameterServer: the cluster in TF_CONFIG has no ps");
    }
    if (IsChief(options_)) return RunChief();
    const absl::Status claimed = place_.Claim();
    if (!claimed.ok()) return Restart(claimed);
    return options_.cluster->self.role == "ps" ? RunParameterServer() : RunWorker();
  }

 private:
  // A port that is taken is no fault of the configuration: the next pod is given another.
  static absl::Status Restart(const absl::Status& status) {
    return absl::UnavailableError(std::string(status.message()));
  }

  std::string StatusBody() {
    RefreshShard();
    return board_.Json();
  }

  void RefreshShard() {
    if (shard_ == nullptr) return;
    const ps::Shard::Stats stats = shard_->stats();
    board_.SetBytes(stats.bytes);
    board_.SetStep(stats.step);
    // Once for each generation: what has happened since is on the board.
    if (stats.generation > shown_generation_.exchange(stats.generation)) {
      board_.SetState(RunState::kTraining);
    }
  }

  // The rate; nothing at the first step and at the first after going back to a checkpoint, from
  // which it is measured.
  static std::optional<double> LogStep(StepLog& log, const StepResult& step, int64_t* last) {
    const bool first = *last < 0 || step.step <= *last;
    *last = step.step;
    if (!first) return log.OnStep(step.step, step.loss);
    log.Start(step.step);
    return std::nullopt;
  }

  absl::StatusOr<std::unique_ptr<ModelTask>> MakeTask() {
    ASSIGN_OR_RETURN(auto task, ModelTask::Make(files_, options_.config));
    board_.SetData(task->data_source(), task->examples());
    return task;
  }

  // Null without a directory. While another living job owns the directory, waits: a process that
  // ended instead would be started again to find the same.
  absl::StatusOr<std::unique_ptr<SnapshotStore>> OpenStore(TrainingTask& task) {
    const TrainerConfig& config = options_.config;
    if (config.checkpoint_dir.empty()) return std::unique_ptr<SnapshotStore>();
    for (bool told = false;;) {
      auto store = SnapshotStore::Open(
          files_, clock_,
          {.dir = config.checkpoint_dir,
           .job = options_.job,
           .uid = options_.uid,
           .attempt = options_.attempt,
           .pod = options_.pod_number,
           .start = options_.start,
           .keep = static_cast<int>(config.checkpoint_keep),
           .shape = ShapeOf(task.session(), config.seed, config.batch_size)});
      if (store.ok() || !absl::IsUnavailable(store.status())) return store;
      const std::string text = "waiting: " + std::string(store.status().message());
      board_.SetState(RunState::kWaitingForPeers, text);
      if (!std::exchange(told, true)) Log(LogLevel::kWarning, text);
      if (stop_.WaitFor(kDirectoryRetry)) return absl::CancelledError("stopped while " + text);
    }
  }

  // However the run has ended, the next job need not wait for the lease. Returns `status`.
  static absl::Status Release(SnapshotStore* store, absl::Status status) {
    if (store == nullptr) return status;
    const absl::Status released = store->Release();
    if (!released.ok()) {
      Log(LogLevel::kWarning, "checkpoint directory not released",
          {{"why", std::string(released.message())}});
    }
    return status;
  }

  StepLog MakeStepLog() const {
    return StepLog(clock_, {.every = options_.config.log_steps,
                            .batch_size = options_.config.batch_size,
                            .max_steps = options_.config.max_steps,
                            .json = options_.config.json_logs,
                            .terminal = isatty(STDOUT_FILENO) == 1});
  }

  absl::Status RunLocally() {
    if (options_.cluster && options_.cluster->training_replicas().size() > 1) {
      return absl::InvalidArgumentError(
          "strategy.type Local: one process trains, but TF_CONFIG has " +
          std::to_string(options_.cluster->training_replicas().size()) + " training replicas");
    }
    ASSIGN_OR_RETURN(const auto task, MakeTask());
    ASSIGN_OR_RETURN(const auto store, OpenStore(*task));
    StepLog log = MakeStepLog();
    return Release(store.get(), RunLocal(clock_, options_.config, *task, store.get(), board_, log,
                                         stop_));
  }

  absl::Status RunChief() {
    ASSIGN_OR_RETURN(const auto task, MakeTask());
    // The port before the directory: a second process with this identity on this machine must not
    // take the directory from the first.
    Reception reception;
    std::unique_ptr<Coordinator> coordinator;  // Outlives the server, whose calls end in it.
    auto server = ChiefServer::Start(place_.listen_host(), place_.port(), reception);
    if (!server.ok()) return Restart(server.status());
    ASSIGN_OR_RETURN(const auto store, OpenStore(*task));
    StepLog log = MakeStepLog();
    coordinator = std::make_unique<Coordinator>(
        clock_,
        Coordinator::Options{
            .config = options_.config,
            .cluster = *options_.cluster,
            .job = {options_.uid, options_.attempt},
            .self = {options_.pod_number, options_.start},
            .on_evaluation = [&](const Evaluation& evaluation) { log.OnEvaluation(evaluation); }},
        board_, *task, store.get());
    reception.Open(*coordinator);

    ReplicaObserver observer;
    observer.on_step = [this, &log, last = int64_t{-1}](const StepResult& step) mutable {
      if (const auto rate = LogStep(log, step, &last)) board_.SetLoss(step.loss, *rate);
    };
    observer.on_trouble = [this](const std::string& why) { ShowTrouble(why); };
    std::thread trainer([&] {
      const absl::Status status =
          RunReplica(*coordinator, *task, options_.cluster->count("ps"), observer);
      if (!status.ok()) coordinator->Fail(status);
    });
    const absl::Status status = coordinator->Run(stop_);
    trainer.join();
    return Release(store.get(), status);
  }

  void ShowTrouble(const std::string& why) {
    board_.SetState(why.empty() ? RunState::kTraining : RunState::kWaitingForPeers, why);
  }

  Member::Options MemberOptions() const {
    const ClusterSpec& cluster = *options_.cluster;
    return {.chief_name = cluster.chief().name(),
            .chief_address = cluster.address(cluster.chief()),
            .job = {options_.uid, options_.attempt},
            .self = cluster.self,
            .incarnation = {options_.pod_number, options_.start},
            .rank = cluster.rank(cluster.self),
            .config_hash = ConfigHash(options_.config)};
  }

  absl::Status RunWorker() {
    ASSIGN_OR_RETURN(const auto task, MakeTask());
    Member member(clock_, MemberOptions(), board_, stop_);
    RETURN_IF_ERROR(member.Start());
    StepLog log = MakeStepLog();
    ReplicaObserver observer;
    observer.on_step = [this, &log, last = int64_t{-1}](const StepResult& step) mutable {
      LogStep(log, step, &last);
      board_.SetProgress({.step = step.step, .loss = step.loss});
    };
    observer.on_trouble = [this](const std::string& why) { ShowTrouble(why); };
    RETURN_IF_ERROR(RunReplica(member, *task, options_.cluster->count("ps"), observer));
    member.Leave();
    board_.SetState(RunState::kDone);
    return absl::OkStatus();
  }

  absl::Status RunParameterServer() {
    const auto serve = [this](comm::Channel& channel) { shard_->Serve(channel); };
    ASSIGN_OR_RETURN(const auto listener,
                     comm::Listener::Open({.host = place_.listen_host()}, serve));
    Member::Options options = MemberOptions();
    options.bulk_address = place_.host() + ":" + std::to_string(listener->port());
    options.generation = [this] { return shard_->stats().generation; };
    options.before_report = [this] { RefreshShard(); };
    Member member(clock_, std::move(options), board_, stop_);
    absl::Status status = member.Start();
    if (status.ok()) status = member.WaitForEnd();
    if (status.ok()) member.Leave();
    RefreshShard();
    if (status.ok()) board_.SetState(RunState::kDone);
    shard_->Close();
    return status;
  }

  const ReplicaProcess& options_;
  StatusBoard& board_;
  const StopFlag& stop_;
  RealClock clock_;
  PosixFileSystem files_;
  Place place_;
  std::unique_ptr<ps::Shard> shard_;
  std::atomic<int64_t> shown_generation_ = 0;
  std::unique_ptr<StatusServer> status_server_;  // Last: its thread reads the rest.
};

}  // namespace

bool NeededToSave(const ReplicaProcess& process) {
  return IsLocal(process) || IsChief(process) || process.cluster->self.role == "ps";
}

StatusBoard::Identity BoardIdentity(const ReplicaProcess& process) {
  char start[17];
  std::snprintf(start, sizeof(start), "%016llx", static_cast<unsigned long long>(process.start));
  const ReplicaId self = process.cluster ? process.cluster->self : ReplicaId{"worker", 0};
  return {.job = process.job,
          .uid = process.uid,
          .role = self.role,
          .index = self.index,
          .attempt = process.attempt,
          .pod = process.pod_number,
          .start = start,
          .max_steps = process.config.max_steps,
          .batch_size = process.config.batch_size};
}

int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk: return kExitDone;
    case absl::StatusCode::kCancelled: return kExitTerminated;
    // Peers that did not come, a port that was taken, a disk that was away: another try may go
    // well, and backoffLimit bounds the tries.
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kUnavailable: return kExitRestart;
    default: return kExitPermanent;
  }
}

int RunReplicaProcess(const ReplicaProcess& process, StatusBoard& board, const StopFlag& stop) {
  const absl::Status status = Process(process, board, stop).Run();
  const std::string message = status.ok() ? "done" : std::string(status.message());
  if (!status.ok()) {
    board.SetState(RunState::kFailed, message);
    Log(LogLevel::kError, message, {{"exit", std::to_string(ExitCodeOf(status))}});
  }
  WriteTermination(process.termination_log, board.TerminationJson(message));
  return ExitCodeOf(status);
}

}  // namespace taas
