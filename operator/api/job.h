// A training job as the operator sees it: what the user asked for, what was last said about it, and
// what the operator must never forget about it.
//
// Both kinds of manifest decode into this one struct; nothing past operator/api knows JSON. Fields
// have the names of the API (docs/reference in crds/trainingjobs.yaml), in snake_case.
//
// Ownership: value types. Threads: const access from any thread. Errors: none.
//
//   ASSIGN_OR_RETURN(const Job job, DecodeTrainingJob(text));
//   for (const auto& [role, spec] : job.spec.roles) Use(RoleName(role), spec.replicas);

#ifndef OPERATOR_API_JOB_H_
#define OPERATOR_API_JOB_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/clock.h"

namespace taas {

// In the order in which replicas are created and listed.
enum class Role { kChief, kPs, kWorker };
std::string_view RoleName(Role role);  // "chief", "ps", "worker"
std::optional<Role> RoleFromName(std::string_view name);

enum class CleanPodPolicy { kRunning, kAll, kNone };

// Why a replica got a new pod.
enum class RestartCause { kUserError, kOutOfMemory, kKilled, kPreempted, kNodeLost, kBadNode };
std::string_view RestartCauseName(RestartCause cause);  // "userError", "outOfMemory", …
std::optional<RestartCause> RestartCauseFromName(std::string_view name);

enum class JobState { kPending, kRunning, kRestarting, kSucceeded, kFailed };
std::string_view JobStateName(JobState state);  // "Pending", …
std::optional<JobState> JobStateFromName(std::string_view name);

struct ObjectMeta {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  int64_t generation = 0;
  std::optional<Clock::WallTime> creation_time;
  std::optional<Clock::WallTime> deletion_time;
};

struct RoleSpec {
  int32_t replicas = 1;
};

struct VolumeSpec {
  std::string name;
  std::string mount_path;
  bool read_only = false;
  std::vector<Role> roles;  // Empty: all.
  std::string source;       // JSON of a core/v1 VolumeSource, kept as it was written.
};

struct TrainerSpec {
  std::string image;           // Empty: the operator's default.
  std::string config;          // JSON of spec.trainer without `image`; becomes TAAS_TRAINER.
  bool local_strategy = false;  // strategy.type is Local: one process, no ps.
  std::string checkpoint_dir;  // Empty: none, so nothing to resume from.
  int64_t max_steps = 0;
};

struct JobSpec {
  TrainerSpec trainer;
  std::map<Role, RoleSpec> roles;
  std::vector<VolumeSpec> volumes;
  int32_t backoff_limit = 6;
  CleanPodPolicy clean_pod_policy = CleanPodPolicy::kRunning;
};

struct Condition {
  std::string type;
  bool status = false;
  std::string reason;
  std::string message;
  Clock::WallTime last_transition_time{};
  int64_t observed_generation = 0;

  bool operator==(const Condition&) const = default;
};

struct ReplicaStatus {
  int32_t desired = 0;
  int32_t active = 0;     // Pods that exist and have not ended.
  int32_t ready = 0;      // Pods that run.
  int32_t succeeded = 0;  // Replicas that completed; they never run again.
  int32_t failed = 0;     // Replicas whose last pod failed for good.

  bool operator==(const ReplicaStatus&) const = default;
};

struct Evaluation {
  int64_t step = 0;
  double accuracy = 0;
  double loss = 0;
  int64_t examples = 0;

  bool operator==(const Evaluation&) const = default;
};

struct Progress {
  int64_t step = 0;
  int64_t max_steps = 0;
  int32_t percent = 0;
  double examples_per_second = 0;
  std::optional<double> loss;
  std::optional<int64_t> eta_seconds;
  std::optional<Evaluation> evaluation;
  std::string data_source;  // What the data said of itself; empty: unknown.

  bool operator==(const Progress&) const = default;
};

struct JobStatus {
  int64_t observed_generation = 0;
  std::vector<Condition> conditions;
  std::map<Role, ReplicaStatus> replica_statuses;
  std::map<RestartCause, int32_t> restarts;
  int32_t attempt = 1;
  JobState state = JobState::kPending;
  std::string ready;     // "3/5"
  std::string selector;  // Of the workers, for the scale subresource.
  std::optional<Progress> progress;
  std::string message;
  std::optional<Clock::WallTime> start_time;
  std::optional<Clock::WallTime> completion_time;

  bool operator==(const JobStatus&) const = default;
};

// One replica in the ledger.
struct LedgerReplica {
  int32_t pod_number = 1;  // Of the pod that exists or is to be made next.
  bool completed = false;
  int32_t quick_failures = 0;  // In a row, for the delay before the next pod.
  std::optional<Clock::WallTime> not_before;
  std::vector<std::string> avoid_nodes;  // The trainer called these bad.
  // On the local cluster: cluster and status port. 0: none yet.
  int32_t port = 0;
  int32_t status_port = 0;

  bool operator==(const LedgerReplica&) const = default;
};

// What must survive a wiped status: kept in the annotation `taas.dev/ledger` of the job itself and
// written before the steps that rely on it. No pod is made that the stored ledger does not know.
struct Ledger {
  int32_t attempt = 1;
  std::map<RestartCause, int32_t> restarts;
  std::map<Role, std::map<int32_t, LedgerReplica>> replicas;  // By role and index.
  std::optional<JobState> outcome;  // Succeeded or Failed, once decided; final.
  std::string outcome_reason;
  std::string outcome_message;
  std::optional<Clock::WallTime> outcome_time;

  bool operator==(const Ledger&) const = default;
};

struct Job {
  ObjectMeta meta;
  JobSpec spec;
  JobStatus status;
  std::optional<Ledger> ledger;  // Nothing yet for a new job.
};

inline constexpr std::string_view kJobLabel = "taas.dev/job-name";
inline constexpr std::string_view kUidLabel = "taas.dev/job-uid";
inline constexpr std::string_view kRoleLabel = "taas.dev/role";
inline constexpr std::string_view kIndexLabel = "taas.dev/index";
inline constexpr std::string_view kAttemptLabel = "taas.dev/attempt";
inline constexpr std::string_view kPodNumberLabel = "taas.dev/pod-number";
inline constexpr std::string_view kLedgerAnnotation = "taas.dev/ledger";
// On pods: the chief's address that this pod was started with.
inline constexpr std::string_view kBootstrapAnnotation = "taas.dev/bootstrap";

// "J-role-i", also the pod's hostname.
std::string PodName(std::string_view job, Role role, int32_t index);

}  // namespace taas

#endif  // OPERATOR_API_JOB_H_
