// One process of a training job from its configuration to its exit code: chief, worker, parameter
// server, or all in one.
//
// Ownership: runs to the end and cleans up. Threads: the caller's and its own. Errors: become exit
// codes of docs/contract.md and a termination message.
//
//   return RunReplicaProcess(process, board, stop, farewell, stopped_by);

#ifndef TRAINER_CMD_REPLICA_PROCESS_H_
#define TRAINER_CMD_REPLICA_PROCESS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "operator/base/clock.h"
#include "trainer/cluster/tf_config.h"
#include "trainer/cmd/farewell.h"
#include "trainer/config/trainer_config.h"
#include "trainer/retry/stop_flag.h"
#include "trainer/retry/try_on.h"
#include "trainer/status/status_board.h"
#include "trainer/strategy/strategy.h"

namespace taas {

struct ReplicaProcess {
  TrainerConfig config;
  std::optional<ClusterSpec> cluster;  // Without one: a program by itself.
  Part part;                           // Of both.
  std::string job = "local/run";
  std::string uid = "none";
  std::string token;  // Of the job; "": none.
  int64_t attempt = 1;
  int64_t pod_number = 1;
  uint64_t start = 0;  // Drawn by the process.
  // For the peers that the start waits for.
  Clock::Duration start_deadline = kStartDeadline;
  std::optional<int> status_port;
  std::optional<std::string> termination_log;
  std::optional<std::string> visible_gpus;  // CUDA_VISIBLE_DEVICES.
  int gpus = 0;  // On how many it computes, unless it is a parameter server; 0: the processor.
  std::string gpu_plans;  // The folder where plans for GPUs are kept; "": nowhere.
};

inline int64_t ExamplesPerStepOf(const ReplicaProcess& process) {
  return ExamplesPerStepOf(process.part, process.config, process.cluster);
}

// The board that the process reports by.
StatusBoard::Identity BoardIdentity(const ReplicaProcess& process);

// Runs and returns the exit code; the termination message is written.
// `farewell` is for a signal that ends the process at once; `stopped_by` is the one that set
// `stop`, which the exit code tells.
int RunReplicaProcess(const ReplicaProcess& process, StatusBoard& board, const StopFlag& stop,
                      Farewell& farewell, const std::atomic<int>& stopped_by);

}  // namespace taas

#endif  // TRAINER_CMD_REPLICA_PROCESS_H_
