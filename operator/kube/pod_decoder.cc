#include "operator/kube/pod_decoder.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "operator/api/dialect.h"
#include "operator/base/status.h"
#include "operator/kube/json_scanner.h"
#include "operator/kube/json_slice.h"
#include "operator/kube/lease.h"

namespace taas {
namespace {

constexpr std::string_view kKueueFinalizer = "kueue.x-k8s.io/managed";

using Scalar = std::variant<std::monostate, bool, int64_t, double, std::string>;

struct Owner {
  std::string uid, kind;
  bool controller = false;
};
struct PodCondition {
  std::string type, status, reason, message;
};
struct Container {
  std::string name, image;
};
struct Times {
  std::optional<Clock::WallTime> started, finished;
};
struct ContainerStatus {
  std::string name, waiting_reason, waiting_message, exit_reason, termination_message;
  std::optional<int32_t> exit_code;
  Times times;
  int32_t restart_count = 0;
  // Of the run before this one.
  std::optional<int32_t> last_exit_code;
  std::string last_exit_reason, last_termination_message;
};

// Everything that is read, before it is put together.
struct Collected {
  ObjectMeta meta;
  std::vector<Owner> owners;
  std::string job, role, index, attempt, pod_number, bootstrap, epoch;
  std::string node, restart_policy, phase, reason, message, ip;
  int64_t deletion_grace = 0;
  bool held_by_kueue = false;
  std::string retriable, group_spec;
  int32_t min_member = 0;
  std::vector<PodCondition> conditions;
  std::vector<Container> containers;
  std::vector<ContainerStatus> statuses;
};

// Cuts before the character that crosses the limit.
std::string CutAt(std::string text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xC0) == 0x80) --bytes_max;
  text.resize(bytes_max);
  return text;
}

template <typename T>
T& At(std::vector<T>& items, size_t index) {
  if (items.size() <= index) items.resize(index + 1);
  return items[index];
}

// Each takes null for "not set" and says whether the type was right.
bool Text(const Scalar& value, std::string* out, size_t bytes_max = SIZE_MAX) {
  if (std::holds_alternative<std::monostate>(value)) return true;
  const auto* text = std::get_if<std::string>(&value);
  if (text != nullptr) *out = CutAt(*text, bytes_max);
  return text != nullptr;
}
bool Flag(const Scalar& value, bool* out) {
  if (std::holds_alternative<std::monostate>(value)) return true;
  const auto* flag = std::get_if<bool>(&value);
  if (flag != nullptr) *out = *flag;
  return flag != nullptr;
}
template <typename Int, typename Out>
bool Number(const Scalar& value, Out* out) {
  if (std::holds_alternative<std::monostate>(value)) return true;
  const auto* number = std::get_if<int64_t>(&value);
  if (number == nullptr || !std::in_range<Int>(*number)) return false;
  *out = static_cast<Int>(*number);
  return true;
}
bool Time(const Scalar& value, std::optional<Clock::WallTime>* out) {
  if (std::holds_alternative<std::monostate>(value)) return true;
  const auto* text = std::get_if<std::string>(&value);
  Clock::WallTime time;
  if (text == nullptr || !ParseRfc3339(*text, &time)) return false;
  *out = time;
  return true;
}

bool Finalizer(const Scalar& value, bool* held_by_kueue) {
  std::string name;
  if (!Text(value, &name)) return false;
  if (name == kKueueFinalizer) *held_by_kueue = true;
  return true;
}

// `i` is the index in the innermost array.
using Setter = bool (*)(Collected& c, size_t i, const Scalar& v);

struct Field {
  std::string_view path;
  Setter set;
};

const std::vector<Field>& Fields() {
  using C = Collected;
  using S = Scalar;
  constexpr size_t kCut = kPodMessageBytesMax;
#define FIELD(path, expression) \
  { path, [](C& c, [[maybe_unused]] size_t i, const S& v) { return expression; } }
  static const std::vector<Field> fields = {
      FIELD("metadata.namespace", Text(v, &c.meta.ns)),
      FIELD("metadata.name", Text(v, &c.meta.name)),
      FIELD("metadata.uid", Text(v, &c.meta.uid)),
      FIELD("metadata.resourceVersion", Text(v, &c.meta.resource_version)),
      FIELD("metadata.generation", Number<int64_t>(v, &c.meta.generation)),
      FIELD("metadata.creationTimestamp", Time(v, &c.meta.creation_time)),
      FIELD("metadata.deletionTimestamp", Time(v, &c.meta.deletion_time)),
      FIELD("metadata.deletionGracePeriodSeconds", Number<int64_t>(v, &c.deletion_grace)),
      FIELD("metadata.ownerReferences[].uid", Text(v, &At(c.owners, i).uid)),
      FIELD("metadata.ownerReferences[].kind", Text(v, &At(c.owners, i).kind)),
      FIELD("metadata.ownerReferences[].controller", Flag(v, &At(c.owners, i).controller)),
      FIELD("metadata.labels.taas.dev/job-name", Text(v, &c.job)),
      FIELD("metadata.labels.taas.dev/role", Text(v, &c.role)),
      FIELD("metadata.labels.taas.dev/index", Text(v, &c.index)),
      FIELD("metadata.labels.taas.dev/attempt", Text(v, &c.attempt)),
      FIELD("metadata.labels.taas.dev/pod-number", Text(v, &c.pod_number)),
      FIELD("metadata.annotations.taas.dev/bootstrap", Text(v, &c.bootstrap)),
      FIELD("metadata.annotations.taas.dev/epoch", Text(v, &c.epoch)),
      FIELD("metadata.annotations.kueue.x-k8s.io/retriable-in-group", Text(v, &c.retriable)),
      FIELD("metadata.annotations.taas.dev/pod-group-spec", Text(v, &c.group_spec)),
      FIELD("metadata.finalizers[]", Finalizer(v, &c.held_by_kueue)),
      FIELD("spec.minMember", Number<int32_t>(v, &c.min_member)),
      FIELD("spec.nodeName", Text(v, &c.node)),
      FIELD("spec.restartPolicy", Text(v, &c.restart_policy)),
      FIELD("spec.containers[].name", Text(v, &At(c.containers, i).name)),
      FIELD("spec.containers[].image", Text(v, &At(c.containers, i).image)),
      FIELD("status.phase", Text(v, &c.phase)),
      FIELD("status.reason", Text(v, &c.reason)),
      FIELD("status.message", Text(v, &c.message, kCut)),
      FIELD("status.podIP", Text(v, &c.ip)),
      FIELD("status.conditions[].type", Text(v, &At(c.conditions, i).type)),
      FIELD("status.conditions[].status", Text(v, &At(c.conditions, i).status)),
      FIELD("status.conditions[].reason", Text(v, &At(c.conditions, i).reason)),
      FIELD("status.conditions[].message", Text(v, &At(c.conditions, i).message, kCut)),
      FIELD("status.containerStatuses[].name", Text(v, &At(c.statuses, i).name)),
      FIELD("status.containerStatuses[].state.waiting.reason",
            Text(v, &At(c.statuses, i).waiting_reason)),
      FIELD("status.containerStatuses[].state.waiting.message",
            Text(v, &At(c.statuses, i).waiting_message, kCut)),
      FIELD("status.containerStatuses[].state.running.startedAt",
            Time(v, &At(c.statuses, i).times.started)),
      FIELD("status.containerStatuses[].state.terminated.startedAt",
            Time(v, &At(c.statuses, i).times.started)),
      FIELD("status.containerStatuses[].state.terminated.finishedAt",
            Time(v, &At(c.statuses, i).times.finished)),
      FIELD("status.containerStatuses[].state.terminated.exitCode",
            Number<int32_t>(v, &At(c.statuses, i).exit_code)),
      FIELD("status.containerStatuses[].state.terminated.reason",
            Text(v, &At(c.statuses, i).exit_reason)),
      FIELD("status.containerStatuses[].state.terminated.message",
            Text(v, &At(c.statuses, i).termination_message, kTerminationMessageBytesMax)),
      FIELD("status.containerStatuses[].restartCount",
            Number<int32_t>(v, &At(c.statuses, i).restart_count)),
      FIELD("status.containerStatuses[].lastState.terminated.exitCode",
            Number<int32_t>(v, &At(c.statuses, i).last_exit_code)),
      FIELD("status.containerStatuses[].lastState.terminated.reason",
            Text(v, &At(c.statuses, i).last_exit_reason)),
      FIELD("status.containerStatuses[].lastState.terminated.message",
            Text(v, &At(c.statuses, i).last_termination_message, kTerminationMessageBytesMax)),
  };
#undef FIELD
  return fields;
}

// The table as a tree: what is on no path to a field is skipped as it is.
struct Node {
  std::map<std::string, Node, std::less<>> members;
  std::unique_ptr<Node> elements;
  const Field* field = nullptr;
};

void Plant(const Field& field, Node* root) {
  Node* node = root;
  std::string_view rest = field.path;
  bool one_key = false;  // The names of labels and annotations have dots.
  while (!rest.empty()) {
    const std::string_view part = one_key ? rest : rest.substr(0, rest.find('.'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    one_key = part == "labels" || part == "annotations";
    const bool array = part.ends_with("[]");
    node = &node->members[std::string(part.substr(0, part.size() - (array ? 2 : 0)))];
    if (!array) continue;
    if (node->elements == nullptr) node->elements = std::make_unique<Node>();
    node = node->elements.get();
  }
  node->field = &field;
}

const Node& FieldTree() {
  static const Node tree = [] {
    Node root;
    for (const Field& field : Fields()) Plant(field, &root);
    return root;
  }();
  return tree;
}

// `text`: as JSON has it. An object or array counts as not set.
absl::StatusOr<Scalar> ScalarOf(std::string_view text) {
  if (text == "null" || text.front() == '{' || text.front() == '[') return Scalar();
  if (text == "true" || text == "false") return Scalar(text == "true");
  if (text.front() == '"') {
    ASSIGN_OR_RETURN(std::string value, StringOf(text));
    return Scalar(std::move(value));
  }
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return Scalar(number);
  double fraction = 0;
  const auto [stop, trouble] = std::from_chars(text.data(), text.data() + text.size(), fraction);
  if (trouble == std::errc::invalid_argument || stop != text.data() + text.size()) {
    return absl::InvalidArgumentError("invalid JSON: " + std::string(text.substr(0, 40)));
  }
  return Scalar(fraction);
}

// Walks through the text once and hands the fields of the table to their setters.
class Reader {
 public:
  Reader(std::string_view json, Collected* out) : scanner_(json), out_(out) {}

  absl::Status Read() {
    if (scanner_.Peek() != '{') return scanner_.Error("an object is expected");
    RETURN_IF_ERROR(Value(FieldTree(), 0));
    return scanner_.AtEnd() ? absl::OkStatus() : scanner_.Error("text after the object");
  }

 private:
  // No deeper than the table.
  absl::Status Value(const Node& node, size_t index) {
    const char next = scanner_.Peek();
    if (next == '{' && !node.members.empty()) return Object(node, index);
    if (next == '[' && node.elements != nullptr) return Array(*node.elements);
    ASSIGN_OR_RETURN(const std::string_view text, scanner_.Value());
    if (node.field == nullptr) return absl::OkStatus();
    ASSIGN_OR_RETURN(const Scalar value, ScalarOf(text));
    if (node.field->set(*out_, index, value)) return absl::OkStatus();
    return absl::InvalidArgumentError(std::string(node.field->path) +
                                      " has a value of the wrong type");
  }

  absl::Status Object(const Node& node, size_t index) {
    scanner_.Take('{');
    if (scanner_.Take('}')) return absl::OkStatus();
    do {
      ASSIGN_OR_RETURN(const std::string_view key, scanner_.String());
      if (!scanner_.Take(':')) return scanner_.Error("':' is expected");
      const auto member = node.members.find(key.substr(1, key.size() - 2));
      if (member != node.members.end()) {
        RETURN_IF_ERROR(Value(member->second, index));
      } else {
        RETURN_IF_ERROR(scanner_.Value().status());
      }
    } while (scanner_.Take(','));
    return scanner_.Take('}') ? absl::OkStatus() : scanner_.Error("',' or '}' is expected");
  }

  absl::Status Array(const Node& elements) {
    scanner_.Take('[');
    if (scanner_.Take(']')) return absl::OkStatus();
    size_t index = 0;
    do {
      RETURN_IF_ERROR(Value(elements, index++));
    } while (scanner_.Take(','));
    return scanner_.Take(']') ? absl::OkStatus() : scanner_.Error("',' or ']' is expected");
  }

  JsonScanner scanner_;
  Collected* const out_;
};

absl::StatusOr<Collected> Collect(std::string_view json) {
  Collected collected;
  const absl::Status read = Reader(json, &collected).Read();
  if (!read.ok()) {
    return absl::InvalidArgumentError("decode object " + collected.meta.ns + "/" +
                                      collected.meta.name + ": " + std::string(read.message()));
  }
  if (collected.meta.name.empty()) {
    return absl::InvalidArgumentError("decode object: metadata.name is missing");
  }
  return collected;
}

Owner ControllerOf(const std::vector<Owner>& owners) {
  for (const Owner& owner : owners) {
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

void TakeBackRunsThatNeverCome(Collected* c) {
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
bool IsPhaseHeldBack(const Collected& c) {
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

void TakeConditions(const std::vector<PodCondition>& conditions, Pod* pod) {
  std::string disruption;
  bool containers_ready = false;
  std::string not_ready_reason;
  for (const PodCondition& condition : conditions) {
    if (condition.type == "Ready") {
      pod->ready = condition.status == "True";
      not_ready_reason = condition.reason;
    }
    if (condition.type == "ContainersReady") containers_ready = condition.status == "True";
    if (condition.type == "DisruptionTarget" && condition.status == "True") {
      pod->disrupted = true;
      disruption = condition.reason;
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
void TakeContainer(Collected& c, Pod* pod) {
  const JobKind kind = pod->owner_kind == DialectOf(JobKind::kTfJob).kind_name
                           ? JobKind::kTfJob
                           : JobKind::kTrainingJob;
  std::string name(DialectOf(kind).container);
  if (c.containers.size() == 1) name = c.containers[0].name;
  for (const Container& container : c.containers) {
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
    pod->started_at = status.times.started;
    pod->finished_at = status.times.finished;
  }
}

}  // namespace

absl::StatusOr<Pod> DecodePod(std::string_view json) {
  ASSIGN_OR_RETURN(Collected c, Collect(json));
  Pod pod;
  Owner owner = ControllerOf(c.owners);
  pod.owner_uid = std::move(owner.uid);
  pod.owner_kind = std::move(owner.kind);
  pod.role = RoleFromName(c.role);
  pod.index = LabelNumber(c.index);
  pod.attempt = std::max(0, LabelNumber(c.attempt));
  // Whoever may edit a pod may write anything there, and the next pod has one more.
  const int32_t number = LabelNumber(c.pod_number);
  pod.pod_number = number > kCountMax ? 0 : std::max(0, number);
  pod.phase = PhaseOf(c.phase);
  TakeBackRunsThatNeverCome(&c);
  TakeConditions(c.conditions, &pod);
  TakeContainer(c, &pod);
  // Who ended it is not known yet, and by its exit code an eviction would be the program's fault.
  if (IsPhaseHeldBack(c)) pod.container_ended = false;
  // A clock holds a few hundred years only.
  constexpr int64_t kGraceSecondsMax = INT32_MAX;
  pod.deletion_grace =
      std::chrono::seconds(std::clamp<int64_t>(c.deletion_grace, 0, kGraceSecondsMax));
  pod.meta = std::move(c.meta);
  pod.job = std::move(c.job);
  pod.bootstrap = std::move(c.bootstrap);
  pod.epoch = EpochOf(c.epoch);
  pod.held_by_kueue = c.held_by_kueue;
  pod.ends_group = c.retriable == "false";
  pod.node = std::move(c.node);
  pod.reason = std::move(c.reason);
  if (pod.reason == kNodeLost) pod.node_lost = true;
  pod.message = std::move(c.message);
  pod.ip = std::move(c.ip);
  return pod;
}

absl::StatusOr<PodGroup> DecodePodGroup(std::string_view json) {
  ASSIGN_OR_RETURN(Collected c, Collect(json));
  Owner owner = ControllerOf(c.owners);
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

absl::StatusOr<OwnedObject> DecodeOwnedObject(std::string_view json) {
  ASSIGN_OR_RETURN(Collected c, Collect(json));
  Owner owner = ControllerOf(c.owners);
  return OwnedObject{.meta = std::move(c.meta),
                     .owner_uid = std::move(owner.uid),
                     .owner_kind = std::move(owner.kind),
                     .job = std::move(c.job),
                     .epoch = EpochOf(c.epoch)};
}

}  // namespace taas
