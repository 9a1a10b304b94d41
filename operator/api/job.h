// A training job as the operator sees it: what the user asked for, what was last said about it, and
// what the operator must never forget about it.
//
// Both kinds of manifest, TrainingJob and TFJob, decode into this one struct; nothing past
// operator/api knows JSON, but for parts of pods that are kept as the user wrote them. Fields have
// the names of the API (crds/trainingjobs.yaml), in snake_case.
//
// Ownership: value types. Threads: const access from any thread. Errors: none.
//
//   ASSIGN_OR_RETURN(const Job job, DecodeJob(JobKind::kTrainingJob, text));
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

// Which kind of object a job was written as. Every visible difference between the two is a value of
// `Dialect` (dialect.h).
enum class JobKind { kTrainingJob, kTfJob };

// In the order in which replicas are created and listed. A TFJob's `Master` is a chief by another
// name (JobSpec::chief_is_master).
enum class Role { kChief, kPs, kWorker, kEvaluator };
std::string_view RoleName(Role role);  // "chief", "ps", "worker", "evaluator"
std::optional<Role> RoleFromName(std::string_view name);

enum class CleanPodPolicy { kRunning, kAll, kNone };
std::optional<CleanPodPolicy> CleanPodPolicyFromName(std::string_view name);

// Always, OnFailure: the node starts the container again in the same pod. Never: any failure is the
// job's. ExitCode: the operator makes a new pod where the exit code says so.
enum class RestartPolicy { kAlways, kOnFailure, kNever, kExitCode };
std::string_view RestartPolicyName(RestartPolicy policy);  // "Always", …
std::optional<RestartPolicy> RestartPolicyFromName(std::string_view name);

// Whose completion is the job's. Auto: the chief's if there is one, else worker 0's. AllWorkers:
// every worker's, and the chief's if there is one.
enum class SuccessPolicy { kAuto, kWorker0, kAllWorkers };
std::string_view SuccessPolicyName(SuccessPolicy policy);
std::optional<SuccessPolicy> SuccessPolicyFromName(std::string_view name);

enum class RestartScope { kReplica, kJob };

// In whose TF_CONFIG the evaluator's address stands. Own: in the evaluator's alone, which suits
// every flavour of TensorFlow. All: in everybody's. None: in nobody's.
enum class EvaluatorInCluster { kOwn, kAll, kNone };

// Why a replica got a new pod.
enum class RestartCause { kUserError, kOutOfMemory, kKilled, kPreempted, kNodeLost, kBadNode };
std::string_view RestartCauseName(RestartCause cause);  // "userError", "outOfMemory", …
std::optional<RestartCause> RestartCauseFromName(std::string_view name);

enum class JobState { kPending, kRunning, kRestarting, kSuspended, kSucceeded, kFailed };
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
  bool operator==(const ObjectMeta&) const = default;
};

struct ContainerPort {
  std::string name;  // May be empty.
  int32_t port = 0;
};

// Between which the replicas of a role may change while the job trains.
struct ElasticSpec {
  int32_t min_replicas = 1;  // Without so many there is no training; the others are not needed.
  int32_t max_replicas = 10'000;

  bool operator==(const ElasticSpec&) const = default;
};

struct RoleSpec {
  int32_t replicas = 1;
  std::optional<ElasticSpec> elastic;  // Of workers, TrainingJob only.
  RestartPolicy restart_policy = RestartPolicy::kExitCode;
  int32_t gpus = 0;  // Of each replica, for the operator to ask for; TrainingJob only.
  // What the manifest itself asks for: the limit nvidia.com/gpu of the role or of its container.
  int32_t gpu_limit = 0;
  int32_t GpusHeld() const { return gpus > 0 ? gpus : gpu_limit; }  // By each pod.
  std::string gpu_type;  // Of the label nvidia.com/gpu.product; empty: any.
  // JSON as it was written; empty: absent.
  std::string resources;     // A core/v1 ResourceRequirements.
  std::string env;           // A list of core/v1 EnvVar.
  std::string env_from;      // A list of core/v1 EnvFromSource.
  std::string pod_template;  // A core/v1 PodTemplateSpec.
  // Of the template's container that gets TF_CONFIG; -1: the template has none, so it is added.
  int32_t container = -1;
  std::vector<ContainerPort> ports;  // That container's, as it declares them.
  // Of these the one of the dialect's port name; 0: none is declared.
  int32_t port = 0;
};

// Which exit codes get a replica of policy ExitCode a new pod.
struct ExitCodeRules {
  enum class Preset {
    kSignals,     // 130, 137, 138 and 143.
    kAtLeast128,  // As training-operator has it.
  };
  Preset preset = Preset::kSignals;
  // Exceptions from the preset.
  std::vector<int32_t> retryable;
  std::vector<int32_t> permanent;

  bool operator==(const ExitCodeRules&) const = default;
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
  std::string checkpoint_dir;  // Empty: none, so nothing to resume from.
  int64_t max_steps = 0;
};

// How the job's pods are placed together (docs/gang-scheduling.md).
struct SchedulingPolicy {
  // No pod is made unless a gang scheduler places them together; TrainingJob only.
  bool gang_required = false;
  std::string queue;           // Empty: the scheduler's default.
  std::string priority_class;  // Of pods whose template names none, and of the gang.
  // Pods that are placed together or not at all; nothing: all without which there is no training.
  std::optional<int32_t> min_available;
  // TFJob only: a core/v1 ResourceList as it was written, and how long a gang may wait half placed.
  std::string min_resources;
  std::optional<int32_t> schedule_timeout_seconds;

  bool operator==(const SchedulingPolicy&) const = default;
};

struct JobSpec {
  bool bundled_trainer = true;  // False: the roles' templates bring their own image.
  TrainerSpec trainer;          // Of the bundled trainer only.
  std::map<Role, RoleSpec> roles;
  bool chief_is_master = false;  // Written as `Master`: so it is called in names and in TF_CONFIG.
  std::vector<VolumeSpec> volumes;
  bool suspend = false;
  std::optional<int32_t> backoff_limit = 6;  // Nothing: no limit (TFJob only).
  std::optional<int64_t> active_deadline_seconds;   // From the start or the last resume.
  std::optional<int64_t> pending_deadline_seconds;  // Until all run, else all are released.
  std::optional<int32_t> ttl_seconds_after_finished;
  CleanPodPolicy clean_pod_policy = CleanPodPolicy::kRunning;
  SuccessPolicy success_policy = SuccessPolicy::kAuto;
  RestartScope restart_scope = RestartScope::kReplica;
  ExitCodeRules exit_codes;
  int32_t node_loss_seconds = 60;
  int32_t port = 2222;  // Of the cluster traffic, in a cluster.
  EvaluatorInCluster evaluator_in_cluster = EvaluatorInCluster::kOwn;
  SchedulingPolicy scheduling;
  bool dynamic_worker = false;  // TFJob's enableDynamicWorker.
  // Another controller's name: the job is not ours to touch (TFJob's managedBy).
  std::string managed_by;
};

struct Condition {
  std::string type;
  bool status = false;
  std::string reason;
  std::string message;
  Clock::WallTime last_transition_time{};
  // When anything of it changed; TFJob only, and as last_transition_time where it is absent.
  std::optional<Clock::WallTime> last_update_time;
  int64_t observed_generation = 0;

  bool operator==(const Condition&) const = default;
};

struct ReplicaStatus {
  int32_t desired = 0;
  int32_t active = 0;     // Pods that exist and have not ended.
  int32_t ready = 0;      // Pods that are ready: of one that has no word on it, that run.
  int32_t succeeded = 0;  // Replicas that completed; they never run again.
  int32_t failed = 0;     // Replicas whose last pod failed for good.

  bool operator==(const ReplicaStatus&) const = default;
};

struct Evaluation {
  int64_t step = 0;
  std::optional<double> accuracy;  // Of a classifier.
  std::optional<double> loss;
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

// The end of one pod that was followed by another.
struct RestartRecord {
  Role role = Role::kWorker;
  int32_t index = 0;
  int32_t attempt = 1;
  int32_t pod_number = 1;
  RestartCause cause = RestartCause::kUserError;
  std::optional<int32_t> exit_code;
  std::string message;  // At most kRestartMessageMax bytes.
  std::string node;
  Clock::WallTime time{};

  bool operator==(const RestartRecord&) const = default;
};
// The newest so many are kept, in the ledger and in status: what a person looks at, and no more
// than 5 KB of an annotation.
inline constexpr size_t kRestartHistoryMax = 20;
inline constexpr size_t kRestartMessageMax = 160;
// Bytes of any other text in the ledger: a sentence with the last words of a program.
inline constexpr size_t kLedgerTextMax = 2048;
// No count of pods, attempts or restarts that somebody may have edited is believed beyond this: it
// is more than a job lives to see, and far from where one more would overflow.
inline constexpr int32_t kCountMax = 100'000'000;
// Further failures in a row change nothing.
inline constexpr int32_t kQuickFailuresMax = 99;

struct JobStatus {
  int64_t observed_generation = 0;
  std::vector<Condition> conditions;
  std::map<Role, ReplicaStatus> replica_statuses;
  std::map<RestartCause, int32_t> restarts;
  int32_t attempt = 1;
  JobState state = JobState::kPending;
  std::string ready;     // "3/5"
  std::string selector;  // Of the workers, for the scale subresource.
  int32_t gpus = 0;      // That the pods which exist and have not ended hold.
  std::optional<Progress> progress;
  std::string message;
  // The effective one; Auto where there is a chief: its completion is the job's.
  SuccessPolicy success_policy = SuccessPolicy::kAuto;
  std::vector<RestartRecord> history;  // Newest last.
  std::optional<Clock::WallTime> start_time;
  std::optional<Clock::WallTime> completion_time;

  bool operator==(const JobStatus&) const = default;
};

// One replica in the ledger.
struct LedgerReplica {
  int32_t pod_number = 1;  // Of the pod that exists or is to be made next.
  int32_t first_pod = 1;   // Since the job began, was resumed or released: no restart made it.
  bool completed = false;
  bool failed = false;  // For good; no pod follows. Ends the job, but for an evaluator's.
  int32_t restarts_in_place = 0;  // Of this pod's container, as far as they were counted.
  // By causes that backoffLimit is for, of a replica without which training goes on: charged to it
  // alone, not to the job.
  int32_t own_restarts = 0;
  int32_t quick_failures = 0;  // In a row, for the delay before the next pod.
  std::optional<Clock::WallTime> not_before;
  // On the local cluster: cluster and status port. 0: none yet.
  int32_t port = 0;
  int32_t status_port = 0;

  bool operator==(const LedgerReplica&) const = default;
};

// A node that a replica's trainer called bad.
struct BadNode {
  std::string name;
  Clock::WallTime since{};

  bool operator==(const BadNode&) const = default;
};

// The pods that Kueue admits together: those of one attempt. Their number may not change.
struct AdmittedGroup {
  int32_t attempt = 1;
  int32_t replicas = 0;  // That were wanted when it was formed; more begin the next attempt.
  int32_t pods = 0;      // In it: replicas that had completed before have none.

  bool operator==(const AdmittedGroup&) const = default;
};

// What must survive a wiped status: kept in the annotation `taas.dev/ledger` of the job itself and
// written before the steps that rely on it. No pod is made that the stored ledger does not know.
struct Ledger {
  int32_t attempt = 1;
  // The secret by which the job's replicas know each other, in the environment of each pod. Empty:
  // the job began before there was one, and goes on without.
  std::string token;
  // When the job began to run or was resumed; what activeDeadlineSeconds counts from.
  std::optional<Clock::WallTime> start_time;
  bool suspended = false;  // All pods are to go, none is to be made.
  // Since when not all replicas run, and how often all were released for that.
  std::optional<Clock::WallTime> pending_since;
  int32_t releases = 0;
  std::optional<Clock::WallTime> released_until;
  // All without which there is no training have run in this attempt; 0: in none yet.
  int32_t ran_attempt = 0;
  std::string released_because;  // The worst pod and its reason, while they are released.
  // When those completed whose completion is the job's; the rest has its graces from then on.
  std::optional<Clock::WallTime> finishing_since;
  std::optional<AdmittedGroup> group;
  // Taken over from another controller, whose writes up to then do not count.
  std::optional<Clock::WallTime> taken_over;
  std::vector<RestartRecord> history;  // Newest last.
  std::vector<BadNode> bad_nodes;      // Likewise.
  std::map<RestartCause, int32_t> restarts;
  std::map<Role, std::map<int32_t, LedgerReplica>> replicas;  // By role and index.
  std::optional<JobState> outcome;  // Succeeded or Failed, once decided; final.
  std::string outcome_reason;
  std::string outcome_message;
  // What a success leaves to be said, and what was in the way at a deadline; empty: nothing.
  std::string outcome_remark;
  std::optional<Clock::WallTime> outcome_time;

  bool operator==(const Ledger&) const = default;
};

// A controller of TFJobs that is not this one, as its last write to the status of a job shows it.
struct OtherController {
  std::string name;  // Of the program, as the API server heard it.
  Clock::WallTime wrote_at{};
};

struct Job {
  JobKind kind = JobKind::kTrainingJob;
  ObjectMeta meta;
  std::optional<OtherController> other_controller;  // TFJob only.
  JobSpec spec;
  JobStatus status;
  // JSON of a status that cannot be read; then `status` is that of a job of which nothing was said.
  std::string unreadable_status;
  std::optional<Ledger> ledger;  // Nothing yet for a new job.
  // Names and values of the annotations beside the ledger, with which they have one limit.
  size_t other_annotation_bytes = 0;
  size_t stored_bytes = 0;  // Of the whole object's text, as an API server gave it; 0: not known.
};

inline constexpr std::string_view kJobLabel = "taas.dev/job-name";
inline constexpr std::string_view kUidLabel = "taas.dev/job-uid";
inline constexpr std::string_view kRoleLabel = "taas.dev/role";
inline constexpr std::string_view kIndexLabel = "taas.dev/index";
inline constexpr std::string_view kAttemptLabel = "taas.dev/attempt";
inline constexpr std::string_view kPodNumberLabel = "taas.dev/pod-number";
inline constexpr std::string_view kLedgerAnnotation = "taas.dev/ledger";
// On TFJobs, which have no field for it: spec.pendingDeadlineSeconds of a TrainingJob.
inline constexpr std::string_view kPendingDeadlineAnnotation = "taas.dev/pending-deadline-seconds";
// On PodGroups: the spec as the operator wrote it last.
inline constexpr std::string_view kPodGroupSpecAnnotation = "taas.dev/pod-group-spec";
// On pods: the job's token, for a ledger that is wiped while they run.
inline constexpr std::string_view kTokenAnnotation = "taas.dev/job-token";
// A token of ours has half as many characters.
inline constexpr size_t kJobTokenMax = 64;
// Whether `text` can be one: letters and digits.
bool IsJobToken(std::string_view text);
// On pods: the chief's address that this pod was started with.
inline constexpr std::string_view kBootstrapAnnotation = "taas.dev/bootstrap";
// On pods: a hash of the role's template that the pod was made from.
inline constexpr std::string_view kTemplateAnnotation = "taas.dev/template";
// On pods: what the pod asked for when it was made, a core/v1 ResourceList.
inline constexpr std::string_view kRequestsAnnotation = "taas.dev/requests";
// Of a pod of a large job: the ConfigMap that its environment refers to.
inline constexpr std::string_view kClusterMapAnnotation = "taas.dev/cluster-map";

// "J-role-i", also the pod's hostname.
std::string PodName(std::string_view job, Role role, int32_t index);

}  // namespace taas

#endif  // OPERATOR_API_JOB_H_
