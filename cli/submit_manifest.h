// The manifest that the flags of `taas submit` describe.
//
// Flags have the names that users of arena know; one set of them makes a TrainingJob or a TFJob.
//
// Ownership: values. Threads: any. Errors: InvalidArgument naming the flag.
//
//   ASSIGN_OR_RETURN(const std::string json, BuildManifest({.name = "mnist", .image = "me/mnist",
//                                                           .command = {"python", "main.py"}}));

#ifndef CLI_SUBMIT_MANIFEST_H_
#define CLI_SUBMIT_MANIFEST_H_

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/api/job.h"

namespace taas {

struct RoleFlags {
  int replicas = 0;
  int gpus = -1;  // -1: --gpus, but for ps and evaluator, which get none.
  std::string image, cpu, memory;
  std::vector<std::string> selectors;
};

// Of the bundled trainer. Empty and negative: the default of the API.
struct TrainerFlags {
  std::string model, hidden, dataset;
  std::string train_images, train_labels, test_images, test_labels;
  std::string strategy, backup_workers, optimizer;
  double learning_rate = -1;
  int64_t replicas_to_aggregate = -1;
  int64_t batch_size = -1;
  int64_t steps = -1;
  std::string checkpoint_dir, summaries_dir;
};

struct SubmitFlags {
  JobKind kind = JobKind::kTrainingJob;
  std::string name, ns;
  std::string image;
  std::vector<std::string> command;  // What follows "--".
  std::string shell;                 // Runs `command` as one text; empty: it is an argv.
  std::array<RoleFlags, 4> roles;    // By Role.
  int gpus = 0;
  std::string cpu, memory;
  std::vector<std::string> env;          // NAME=VALUE
  std::vector<std::string> data;         // CLAIM:/path[:ro]
  std::vector<std::string> data_dirs;    // /path/on/node:/path[:ro]
  std::vector<std::string> labels;       // KEY=VALUE
  std::vector<std::string> annotations;  // KEY=VALUE
  std::vector<std::string> selectors;    // KEY=VALUE
  std::vector<std::string> tolerations;  // KEY or all
  std::vector<std::string> pull_secrets;
  std::string pull_policy, working_dir, share_memory, priority;
  std::string clean_task_policy, success_policy, restart, restart_scope;
  std::optional<std::chrono::seconds> running_timeout, starting_timeout, ttl;
  int retry = -1;
  bool suspend = false;
  TrainerFlags trainer;
  std::vector<std::string> set;  // PATH=VALUE
};

RoleFlags& RoleOf(SubmitFlags& flags, Role role);

absl::StatusOr<std::string> BuildManifest(const SubmitFlags& flags);

// A manifest, JSON, in which these fields are others: PATH=VALUE each, as --set has them.
absl::StatusOr<std::string> WithFields(std::string_view json, const std::vector<std::string>& set);

}  // namespace taas

#endif  // CLI_SUBMIT_MANIFEST_H_
