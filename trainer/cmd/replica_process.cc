#include "trainer/cmd/replica_process.h"

#include <cstdio>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/cmd/role.h"
#include "trainer/retry/error_policy.h"
#include "trainer/status/gpu_watch.h"

namespace taas {
namespace {

absl::Status Run(Role& role) {
  const ReplicaProcess& process = role.process();
  if (process.cluster) {
    RETURN_IF_ERROR(role.place().Resolve(role.cluster()));
  }
  const TrainerRole what = RoleOf(process);
  if (what == TrainerRole::kEvaluator) return RunEvaluator(role);
  if (what == TrainerRole::kLocal) return RunLocally(role);
  if (role.cluster().count("ps") == 0) {
    return absl::InvalidArgumentError(
        "strategy.type ParameterServer: the cluster in TF_CONFIG has no ps");
  }
  if (what == TrainerRole::kChief) return RunChief(role);
  return what == TrainerRole::kParameterServer ? RunParameterServer(role) : RunWorker(role);
}

}  // namespace

TrainerRole RoleOf(const ReplicaProcess& process) {
  const std::optional<ClusterSpec>& cluster = process.cluster;
  if (cluster && cluster->self.role == "evaluator") return TrainerRole::kEvaluator;
  if (!cluster || cluster->alone() ||
      process.config.strategy != StrategyType::kParameterServer) {
    return TrainerRole::kLocal;
  }
  if (cluster->self == cluster->chief()) return TrainerRole::kChief;
  return cluster->self.role == "ps" ? TrainerRole::kParameterServer : TrainerRole::kWorker;
}

bool NeededToSave(const ReplicaProcess& process) {
  const TrainerRole role = RoleOf(process);
  return role != TrainerRole::kEvaluator && role != TrainerRole::kWorker;
}

int64_t ExamplesPerStepOf(const ReplicaProcess& process) {
  const TrainerConfig& config = process.config;
  const TrainerRole role = RoleOf(process);
  const bool alone = role == TrainerRole::kLocal || role == TrainerRole::kEvaluator;
  if (alone || config.mode != UpdateMode::kSync) {
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
