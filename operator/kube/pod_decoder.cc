#include "operator/kube/pod_decoder.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "operator/api/dialect.h"
#include "operator/base/status.h"
#include "operator/kube/lease.h"
#include "operator/kube/object_fields.h"

namespace taas {
namespace {

OwnerReference ControllerOf(const std::vector<OwnerReference>& owners) {
  for (const OwnerReference& owner : owners) {
    if (owner.controller) return owner;
  }
  return {};
}

// -1: not a number.
int32_t LabelNumber(std::string_view text) {
  int32_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

// Whoever may edit a pod may write anything there.
int64_t EpochOf(std::string_view text) {
  const int64_t epoch = LabelNumber(text);
  return epoch > 0 && epoch < kEpochMax ? epoch : 0;
}

// Many times what a pod asks for: whoever may edit a pod may write anything there.
constexpr size_t kRequestsBytesMax = 512;

// Of sixteen digits; 0: they are none.
uint64_t HashOf(std::string_view text) {
  uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  return error == std::errc() && end == text.data() + text.size() ? hash : 0;
}

PodPhase PhaseOf(std::string_view phase) {
  if (phase.empty() || phase == "Pending") return PodPhase::kPending;
  if (phase == "Running") return PodPhase::kRunning;
  if (phase == "Succeeded") return PodPhase::kSucceeded;
  if (phase == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

bool StartsAgain(std::string_view restart_policy, int32_t exit_code) {
  return restart_policy != "Never" && (restart_policy != "OnFailure" || exit_code != 0);
}

// A kubelet that finds no trace of a container any more says that its run ended so, and is followed
// by one that waits, even where none follows: of a pod that is over or is never started again.
constexpr std::string_view kContainerLost = "ContainerStatusUnknown";

void TakeBackRunsThatNeverCome(ObjectFields* c) {
  const PodPhase phase = PhaseOf(c->phase);
  const bool over = phase == PodPhase::kSucceeded || phase == PodPhase::kFailed;
  if (!over && c->restart_policy != "Never") return;
  for (ContainerStatus& status : c->statuses) {
    const bool lost = status.last_exit_reason == kContainerLost && status.restart_count > 0 &&
                      !status.exit_code.has_value();
    if (!lost) continue;
    --status.restart_count;
    status.exit_code = std::exchange(status.last_exit_code, std::nullopt);
    status.exit_reason = std::exchange(status.last_exit_reason, "");
    status.termination_message = std::exchange(status.last_termination_message, "");
    status.waiting_reason.clear();
    status.waiting_message.clear();
  }
}

// A kubelet tells how the containers of a pod ended before it tells the phase that follows, and
// with that the reason (Evicted, ...): both are held back while it takes the pod down.
bool IsPhaseHeldBack(const ObjectFields& c) {
  const PodPhase told = PhaseOf(c.phase);
  if (told != PodPhase::kPending && told != PodPhase::kRunning) return false;
  if (c.statuses.size() < c.containers.size()) return false;
  return std::all_of(c.statuses.begin(), c.statuses.end(), [&c](const ContainerStatus& status) {
    return status.exit_code.has_value() && !StartsAgain(c.restart_policy, *status.exit_code);
  });
}

// Why the control plane takes a pod away: its node has a taint that the pod does not tolerate (any
// longer), or does not exist.
constexpr std::string_view kByTaint = "DeletionByTaintManager";
constexpr std::string_view kByPodCollector = "DeletionByPodGC";
// The status.reason of such pods before Kubernetes had the condition.
constexpr std::string_view kNodeLost = "NodeLost";

// Started once more, though its pod begins: it serves beside the others and never has to end.
bool IsSidecar(const ObjectFields& c, const std::string& name) {
  return std::any_of(c.init_containers.begin(), c.init_containers.end(),
                     [&name](const ContainerSpec& container) {
                       return container.name == name && container.restart_policy == "Always";
                     });
}

bool HasRun(const ContainerStatus& status) {
  return status.started.has_value() || status.exit_code.has_value() ||
         status.last_exit_code.has_value() || status.restart_count > 0;
}

bool AnyHasRun(const ObjectFields& c) {
  return std::any_of(c.statuses.begin(), c.statuses.end(), HasRun) ||
         std::any_of(c.init_statuses.begin(), c.init_statuses.end(), HasRun);
}

bool HasDoneItsWork(const ObjectFields& c, const ContainerStatus& status) {
  if (status.exit_code.has_value()) return *status.exit_code == 0;
  return IsSidecar(c, status.name) && status.started.has_value();
}

// A node that has lost the pod's sandbox runs all of them again, which is nobody's failure.
int32_t RestartsOfInitContainers(const ObjectFields& c) {
  int32_t restarts = 0;
  for (const ContainerStatus& status : c.init_statuses) {
    const bool failed = status.last_exit_code.value_or(0) != 0;
    if (failed && !IsSidecar(c, status.name) && status.restart_count > 0) {
      restarts += std::min(status.restart_count, INT32_MAX - restarts);
    }
  }
  return restarts;
}

// Restarts that are seen only when the main container runs already are those of an init container:
// how that failed is how the pod's last run ended.
void TakeLastFailure(const ObjectFields& c, Pod* pod) {
  if (pod->last_exit_code.has_value()) return;
  for (const ContainerStatus& status : c.init_statuses) {
    if (status.restart_count == 0 || IsSidecar(c, status.name)) continue;
    if (status.last_exit_code.value_or(0) == 0) continue;
    pod->last_exit_code = status.last_exit_code;
    pod->last_exit_reason = status.last_exit_reason;
    pod->last_termination_message = status.last_termination_message;
  }
}

// Once the main container has run, an init container is in nobody's way.
std::shared_ptr<const InitContainer> TakeInitContainer(ObjectFields& c, const Pod& pod) {
  if (pod.started_at.has_value() || pod.exit_code.has_value()) return nullptr;
  for (ContainerStatus& status : c.init_statuses) {
    if (HasDoneItsWork(c, status)) continue;
    InitContainer init{.name = std::move(status.name),
                       .waiting_reason = std::move(status.waiting_reason),
                       .waiting_message = std::move(status.waiting_message),
                       .running = status.started.has_value() && !status.exit_code.has_value(),
                       .exit_code = status.exit_code,
                       .exit_reason = std::move(status.exit_reason),
                       .termination_message = std::move(status.termination_message),
                       .restart_count = status.restart_count,
                       .last_exit_code = status.last_exit_code,
                       .last_exit_reason = std::move(status.last_exit_reason),
                       .last_termination_message = std::move(status.last_termination_message)};
    for (const ContainerSpec& container : c.init_containers) {
      if (container.name == init.name) init.image = container.image;
    }
    return std::make_shared<const InitContainer>(std::move(init));
  }
  return nullptr;
}

void TakeConditions(const std::vector<PodCondition>& conditions, Pod* pod) {
  std::string disruption;
  bool containers_ready = false;
  std::string not_ready_reason;
  for (const PodCondition& condition : conditions) {
    if (condition.type == "Ready") {
      pod->ready = condition.status == "True";
      pod->unready = !pod->ready;
      not_ready_reason = condition.reason;
    }
    if (condition.type == "ContainersReady") containers_ready = condition.status == "True";
    if (condition.type == "DisruptionTarget" && condition.status == "True") {
      pod->disrupted = true;
      disruption = condition.reason;
      // Who took it away and what for. The pod's own message, as of an eviction, goes before.
      pod->message = condition.reason + ": " + condition.message;
    }
    if (condition.type == kImagePulledCondition && condition.status == "False") {
      pod->image_note = condition.message;
    }
    if (condition.type == "PodScheduled" && condition.status == "False") {
      pod->unschedulable_reason = condition.reason;
      pod->unschedulable_message = condition.message;
    }
  }
  // A node that finds a pod not ready gives a reason.
  pod->node_silent = containers_ready && !pod->ready && not_ready_reason.empty();
  // Of a silent node's pods the control plane says that they are not ready; an administrator's
  // taint leaves that as it is.
  pod->node_lost = (disruption == kByTaint && !pod->ready) || disruption == kByPodCollector;
}

// The container of the owner's dialect (`trainer`, `tensorflow`), else the only one.
void TakeContainer(ObjectFields& c, Pod* pod) {
  const JobKind kind = pod->owner_kind == DialectOf(JobKind::kTfJob).kind_name
                           ? JobKind::kTfJob
                           : JobKind::kTrainingJob;
  std::string name(DialectOf(kind).container);
  if (c.containers.size() == 1) name = c.containers[0].name;
  for (const ContainerSpec& container : c.containers) {
    if (container.name == name) pod->image = container.image;
  }
  for (ContainerStatus& status : c.statuses) {
    if (status.name != name) continue;
    pod->waiting_reason = std::move(status.waiting_reason);
    pod->waiting_message = std::move(status.waiting_message);
    pod->exit_code = status.exit_code;
    pod->container_ended =
        status.exit_code.has_value() && !StartsAgain(c.restart_policy, *status.exit_code);
    pod->exit_reason = std::move(status.exit_reason);
    pod->termination_message = std::move(status.termination_message);
    pod->restart_count = status.restart_count;
    pod->last_exit_code = status.last_exit_code;
    pod->last_exit_reason = std::move(status.last_exit_reason);
    pod->last_termination_message = std::move(status.last_termination_message);
    pod->started_at = status.started;
    pod->finished_at = status.finished;
  }
}

}  // namespace

absl::StatusOr<Pod> DecodePod(std::string_view object) {
  ASSIGN_OR_RETURN(ObjectFields c, ReadObjectFields(object));
  Pod pod;
  OwnerReference owner = ControllerOf(c.owners);
  pod.owner_uid = std::move(owner.uid);
  pod.owner_kind = std::move(owner.kind);
  pod.role = RoleFromName(c.role);
  pod.index = LabelNumber(c.index);
  pod.attempt = std::max(0, LabelNumber(c.attempt));
  pod.pod_number = std::max(0, LabelNumber(c.pod_number));
  pod.phase = PhaseOf(c.phase);
  TakeBackRunsThatNeverCome(&c);
  TakeConditions(c.conditions, &pod);
  pod.started = AnyHasRun(c);
  const int32_t init_restarts = RestartsOfInitContainers(c);
  TakeContainer(c, &pod);
  pod.restart_count += std::min(init_restarts, INT32_MAX - std::max(0, pod.restart_count));
  if (init_restarts > 0) TakeLastFailure(c, &pod);
  pod.init = TakeInitContainer(c, pod);
  // Who ended it is not known yet, and by its exit code an eviction would be the program's fault.
  if (IsPhaseHeldBack(c)) pod.container_ended = false;
  // A clock holds a few hundred years only.
  constexpr int64_t kGraceSecondsMax = INT32_MAX;
  pod.deletion_grace =
      std::chrono::seconds(std::clamp<int64_t>(c.deletion_grace, 0, kGraceSecondsMax));
  pod.meta = std::move(c.meta);
  pod.job = std::move(c.job);
  pod.bootstrap = std::move(c.bootstrap);
  pod.token = std::move(c.token);
  pod.cluster_map = std::move(c.cluster_map);
  pod.epoch = EpochOf(c.epoch);
  pod.template_hash = HashOf(c.template_hash);
  if (c.requests.size() <= kRequestsBytesMax) pod.requests = std::move(c.requests);
  pod.held_by_kueue = c.held_by_kueue;
  pod.ends_group = c.retriable == "false";
  pod.node = std::move(c.node);
  pod.reason = std::move(c.reason);
  if (pod.reason == kNodeLost) pod.node_lost = true;
  if (!c.message.empty()) pod.message = std::move(c.message);
  pod.ip = std::move(c.ip);
  return pod;
}

absl::StatusOr<PodGroup> DecodePodGroup(std::string_view json) {
  ASSIGN_OR_RETURN(ObjectFields c, ReadObjectFields(json));
  OwnerReference owner = ControllerOf(c.owners);
  PodGroup group{.meta = std::move(c.meta),
                 .owner_uid = std::move(owner.uid),
                 .owner_kind = std::move(owner.kind),
                 .job = std::move(c.job),
                 .min_member = c.min_member,
                 .spec = std::move(c.group_spec),
                 .phase = std::move(c.phase)};
  for (const PodCondition& condition : c.conditions) {
    if (condition.type != "Unschedulable" || condition.status != "True") continue;
    group.trouble = condition.message.empty() ? condition.reason : condition.message;
  }
  return group;
}

absl::StatusOr<OwnedObject> DecodeOwnedObject(std::string_view object) {
  ASSIGN_OR_RETURN(ObjectFields c, ReadObjectMetadata(object));
  OwnerReference owner = ControllerOf(c.owners);
  return OwnedObject{.meta = std::move(c.meta),
                     .owner_uid = std::move(owner.uid),
                     .owner_kind = std::move(owner.kind),
                     .job = std::move(c.job),
                     .epoch = EpochOf(c.epoch)};
}

}  // namespace taas
