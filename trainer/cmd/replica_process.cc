#include "trainer/cmd/replica_process.h"

#include <cstdio>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/cmd/role.h"
#include "trainer/status/gpu_watch.h"

namespace taas {
namespace {

bool IsEvaluator(const ReplicaProcess& process) {
  return process.cluster && process.cluster->self.role == "evaluator";
}

bool IsLocal(const ReplicaProcess& process) {
  if (IsEvaluator(process)) return false;
  return !process.cluster || process.cluster->alone() ||
         process.config.strategy != StrategyType::kParameterServer;
}

bool IsChief(const ReplicaProcess& process) {
  return process.cluster && process.cluster->self == process.cluster->chief();
}

absl::Status Run(Role& role) {
  const ReplicaProcess& process = role.process();
  if (process.cluster) {
    RETURN_IF_ERROR(role.place().Resolve(role.cluster()));
  }
  if (IsEvaluator(process)) return RunEvaluator(role);
  if (IsLocal(process)) return RunLocally(role);
  if (role.cluster().count("ps") == 0) {
    return absl::InvalidArgumentError(
        "strategy.type ParameterServer: the cluster in TF_CONFIG has no ps");
  }
  if (IsChief(process)) return RunChief(role);
  return role.cluster().self.role == "ps" ? RunParameterServer(role) : RunWorker(role);
}

}  // namespace

bool NeededToSave(const ReplicaProcess& process) {
  if (IsEvaluator(process)) return false;
  return IsLocal(process) || IsChief(process) || process.cluster->self.role == "ps";
}

int64_t ExamplesPerStepOf(const ReplicaProcess& process) {
  const TrainerConfig& config = process.config;
  if (IsLocal(process) || IsEvaluator(process) || config.mode != UpdateMode::kSync) {
    return ExamplesPerStep(config);
  }
  const auto replicas = static_cast<int64_t>(process.cluster->training_replicas().size());
  // What cannot be resolved is refused where training starts.
  return ExamplesPerStep(config, GradientsPerStep(config, replicas).value_or(1));
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
          .batch_size = ExamplesPerStepOf(process)};
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

int RunReplicaProcess(const ReplicaProcess& process, StatusBoard& board, const StopFlag& stop,
                      Farewell& farewell) {
  absl::Status status;
  {
    const GpuWatch gpus(board, {.visible = process.visible_gpus});
    // Its end closes the status page and writes what waits to be recorded.
    Role role(process, board, stop, farewell);
    status = Run(role);
  }
  const std::string message = status.ok() ? board.DoneMessage() : std::string(status.message());
  if (!status.ok()) {
    board.SetState(RunState::kFailed, message);
    Log(LogLevel::kError, message, {{"exit", std::to_string(ExitCodeOf(status))}});
  }
  WriteTermination(process.termination_log, board.TerminationJson(message));
  return ExitCodeOf(status);
}

}  // namespace taas
