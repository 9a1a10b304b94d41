#include "trainer/cmd/replica_process.h"


#include "operator/base/hash.h"
#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/cmd/role.h"
#include "trainer/retry/error_policy.h"
#include "trainer/status/gpu_watch.h"

namespace taas {
namespace {

absl::Status (*RunOf(const Part& part))(Role& role) {
  const bool ring = part.strategy->type == StrategyType::kAllReduce;
  switch (part.role) {
    case TrainerRole::kChief: return ring ? RunRingChief : RunChief;
    case TrainerRole::kWorker: return ring ? RunRingWorker : RunWorker;
    case TrainerRole::kParameterServer: return RunParameterServer;
    case TrainerRole::kEvaluator: return RunEvaluator;
    case TrainerRole::kLocal: break;
  }
  return RunLocally;
}

absl::Status Run(Role& role) {
  const Part& part = role.process().part;
  if (role.process().cluster) {
    RETURN_IF_ERROR(role.place().Resolve(role.cluster()));
    if (part.role != TrainerRole::kEvaluator) {
      RETURN_IF_ERROR(part.strategy->check(*part.strategy, role.cluster()));
    }
  }
  return RunOf(part)(role);
}

// What to say of an end that somebody asked for.
std::string StoppedText(const ReplicaProcess& process, const StatusBoard& board) {
  const auto saved = board.snapshot().checkpoints;
  if (process.config.checkpoint_dir.empty()) return "stopped; nothing is saved";
  if (saved.empty()) return "stopped; no checkpoint was saved";
  return "stopped; the same command goes on from step " + std::to_string(saved.front().step);
}

}  // namespace

StatusBoard::Identity BoardIdentity(const ReplicaProcess& process) {
  const ReplicaId self = process.cluster ? process.cluster->self : ReplicaId{"worker", 0};
  return {.job = process.job,
          .uid = process.uid,
          .role = self.role,
          .index = self.index,
          .attempt = process.attempt,
          .pod = process.pod_number,
          .start = HexOf(process.start),
          .max_steps = process.config.max_steps,
          .batch_size = ExamplesPerStepOf(process)};
}

int RunReplicaProcess(const ReplicaProcess& process, StatusBoard& board, const StopFlag& stop,
                      Farewell& farewell, const std::atomic<int>& stopped_by) {
  absl::Status status;
  {
    GpuWatch gpus(board, {.visible = process.visible_gpus});
    // Its end closes the status page and writes what waits to be recorded.
    Role role(process, board, gpus, stop, farewell);
    status = role.Explain(Run(role));
  }
  std::string message = status.ok() ? board.DoneMessage() : std::string(status.message());
  const bool was_told = absl::IsCancelled(status);
  // What it was busy with when it was told is said where it was not training.
  if (was_told && !process.cluster && message == "stopped") message = StoppedText(process, board);
  int code = ExitCodeOf(status);
  // A shell is told of the signal that it sent.
  if (code == kExitTerminated) code = 128 + stopped_by;
  if (!status.ok()) {
    board.SetState(RunState::kFailed, message);
    Log(was_told ? LogLevel::kInfo : LogLevel::kError, message, {{"exit", std::to_string(code)}});
  }
  WriteTermination(process.termination_log, board.TerminationJson(message));
  return code;
}

}  // namespace taas
