// The command line of taas-trainer, with the flags that scripts of distributed TensorFlow have
// always had, so that a manifest needs no more than args.
//
// For what is trained, flags go over --config, that over TAAS_TRAINER. For who this process is,
// flags go over TF_CONFIG, that over the classic lists in the environment.
//
// Ownership: value type. Threads: any. Errors: InvalidArgument, naming the flag or variable.
//
//   AddFlags(app, &flags);
//   ASSIGN_OR_RETURN(const std::string trainer, TrainerJson(flags, Env, files));
//   ASSIGN_OR_RETURN(const std::optional<ClusterSpec> cluster, ReadCluster(flags, Env));

#ifndef TRAINER_CMD_FLAGS_H_
#define TRAINER_CMD_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/command_line.h"
#include "operator/base/file_system.h"
#include "trainer/cluster/tf_config.h"
#include "trainer/config/job_manifest.h"
#include "trainer/config/trainer_config.h"

namespace taas {

struct Flags {
  // Who this process is.
  std::optional<std::string> chief_hosts, ps_hosts, worker_hosts, job_name;
  std::optional<int> task_index;
  int64_t start_deadline_secs = 300;
  std::optional<std::string> job_token_file;

  // What is trained; what is not given is left to --config and TAAS_TRAINER.
  std::string config;
  std::vector<std::string> volumes;  // NAME=DIR, of a manifest.
  std::optional<std::string> model, data_dir, optimizer, log_dir, checkpoint_dir, strategy;
  std::vector<int64_t> hidden_units;
  std::optional<int64_t> train_steps, batch_size, seed, save_checkpoints_secs,
      save_checkpoints_steps, save_deadline_secs, save_summaries_steps, log_steps,
      replicas_to_aggregate, max_staleness, towers;
  std::optional<std::string> backup_workers;
  std::optional<double> learning_rate, momentum, l2, moving_average_decay;
  std::optional<bool> sync_replicas;

  // How it is computed.
  bool log_device_placement = false, soft_placement = false, deterministic = false;
  std::optional<int64_t> inter_op_threads, intra_op_threads;
  std::optional<std::string> precision, trace, trace_steps;

  bool json_logs = false;
  bool verbose = false;
};

void AddFlags(Command& app, Flags* flags);
// Those only that say which model it is, for programs that do not train.
void AddModelFlags(Command& app, Flags* flags);

// Whether anything at all does.
bool SaysWhatToTrain(const Flags& flags, const GetEnv& env);
// Whether flags do, in place of TF_CONFIG.
bool SaysWhoItIs(const Flags& flags);

// The object spec.trainer as JSON, with the paths of a manifest as they are here: those that are
// needed must be in volumes that are given.
absl::StatusOr<std::string> TrainerJson(const Flags& flags, const GetEnv& env, FileSystem& files,
                                        const NeededPaths& needed = {});

// The job's token (trainer/comm/greeting.h), of the flag's file or of TAAS_JOB_TOKEN; "" for none.
// It is in no message.
absl::StatusOr<std::string> ReadToken(const Flags& flags, const GetEnv& env, FileSystem& files);

// Nothing: no cluster, one process trains.
absl::StatusOr<std::optional<ClusterSpec>> ReadCluster(const Flags& flags, const GetEnv& env);

}  // namespace taas

#endif  // TRAINER_CMD_FLAGS_H_
