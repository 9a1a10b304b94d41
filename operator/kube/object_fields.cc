#include "operator/kube/object_fields.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <variant>

#include "operator/api/kube_protobuf.h"
#include "operator/base/protobuf_slice.h"
#include "operator/base/shorten.h"
#include "operator/base/status.h"
#include "operator/base/utf8.h"
#include "operator/kube/json_scanner.h"
#include "operator/kube/json_slice.h"

namespace taas {
namespace {

constexpr std::string_view kKueueFinalizer = "kueue.x-k8s.io/managed";

// Of protobuf: a number or a flag, and a text or a message.
struct Varint {
  uint64_t value = 0;
};
struct Bytes {
  std::string_view value;
};
using Scalar = std::variant<std::monostate, bool, int64_t, double, std::string, Varint, Bytes>;

template <typename T>
T& At(std::vector<T>& items, size_t index) {
  if (items.size() <= index) items.resize(index + 1);
  return items[index];
}

// Each takes null for "not set" and says whether the type was right.
bool Text(const Scalar& value, std::string* out, size_t bytes_max = SIZE_MAX) {
  if (std::holds_alternative<std::monostate>(value)) return true;
  if (const auto* bytes = std::get_if<Bytes>(&value)) {
    *out = WithValidUtf8(bytes->value);
    out->resize(CutToCharacter(*out, bytes_max).size());
    return true;
  }
  const auto* text = std::get_if<std::string>(&value);
  if (text != nullptr) *out = CutToCharacter(*text, bytes_max);
  return text != nullptr;
}
// What people read. A termination message is not: it may be JSON, and Kubernetes cuts it itself.
bool Sentence(const Scalar& value, std::string* out) {
  if (!Text(value, out)) return false;
  *out = Shortened(*out, kPodMessageBytesMax);
  return true;
}
bool Flag(const Scalar& value, bool* out) {
  if (std::holds_alternative<std::monostate>(value)) return true;
  if (const auto* number = std::get_if<Varint>(&value)) {
    *out = number->value != 0;
    return true;
  }
  const auto* flag = std::get_if<bool>(&value);
  if (flag != nullptr) *out = *flag;
  return flag != nullptr;
}
template <typename Int, typename Out>
bool Number(const Scalar& value, Out* out) {
  if (std::holds_alternative<std::monostate>(value)) return true;
  int64_t number = 0;
  if (const auto* varint = std::get_if<Varint>(&value)) {
    number = static_cast<int64_t>(varint->value);
  } else if (const auto* whole = std::get_if<int64_t>(&value)) {
    number = *whole;
  } else {
    return false;
  }
  if (!std::in_range<Int>(number)) return false;
  *out = static_cast<Int>(number);
  return true;
}
// metav1.Time: seconds since 1970; without any it is not set.
bool TimeOf(std::string_view message, std::optional<Clock::WallTime>* out) {
  constexpr int kSeconds = 1;
  const auto seconds_of = [](Clock::WallTime time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  };
  const int64_t first = seconds_of(Clock::WallTime::min());
  const int64_t last = seconds_of(Clock::WallTime::max());
  return ForEachField(message, [&](const ProtobufField& field) {
           if (field.number != kSeconds) return absl::OkStatus();
           const auto seconds = static_cast<int64_t>(field.varint);
           if (seconds < first || seconds > last) {
             return absl::OutOfRangeError("no time that a clock can hold");
           }
           *out = Clock::WallTime(std::chrono::seconds(seconds));
           return absl::OkStatus();
         }).ok();
}
bool Time(const Scalar& value, std::optional<Clock::WallTime>* out) {
  if (std::holds_alternative<std::monostate>(value)) return true;
  if (const auto* bytes = std::get_if<Bytes>(&value)) return TimeOf(bytes->value, out);
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
using Setter = bool (*)(ObjectFields& c, size_t i, const Scalar& v);

struct Field {
  std::string_view path;     // Of JSON; labels and annotations have names with dots.
  std::string_view numbers;  // Of protobuf, as far as the name of a label; empty: not there.
  Setter set;
};

#define FIELD(path, numbers, expression)                                         \
  { path, numbers,                                                               \
    [](ObjectFields& c, [[maybe_unused]] size_t i, const Scalar& v) { return expression; } }

// Of one of a pod's lists of containers' statuses, which `all` holds.
#define STATUS_FIELDS(list, number, all)                                                      \
  FIELD("status." list "[].name", "3." number ".1", Text(v, &At(c.all, i).name)),             \
      FIELD("status." list "[].state.waiting.reason", "3." number ".2.1.1",                   \
            Text(v, &At(c.all, i).waiting_reason)),                                           \
      FIELD("status." list "[].state.waiting.message", "3." number ".2.1.2",                  \
            Sentence(v, &At(c.all, i).waiting_message)),                                      \
      FIELD("status." list "[].state.running.startedAt", "3." number ".2.2.1",                \
            Time(v, &At(c.all, i).started)),                                                  \
      FIELD("status." list "[].state.terminated.startedAt", "3." number ".2.3.5",             \
            Time(v, &At(c.all, i).started)),                                                  \
      FIELD("status." list "[].state.terminated.finishedAt", "3." number ".2.3.6",            \
            Time(v, &At(c.all, i).finished)),                                                 \
      FIELD("status." list "[].state.terminated.exitCode", "3." number ".2.3.1",              \
            Number<int32_t>(v, &At(c.all, i).exit_code)),                                     \
      FIELD("status." list "[].state.terminated.reason", "3." number ".2.3.3",                \
            Text(v, &At(c.all, i).exit_reason)),                                              \
      FIELD("status." list "[].state.terminated.message", "3." number ".2.3.4",               \
            Text(v, &At(c.all, i).termination_message, kTerminationMessageBytesMax)),         \
      FIELD("status." list "[].restartCount", "3." number ".5",                               \
            Number<int32_t>(v, &At(c.all, i).restart_count)),                                 \
      FIELD("status." list "[].lastState.terminated.exitCode", "3." number ".3.3.1",          \
            Number<int32_t>(v, &At(c.all, i).last_exit_code)),                                \
      FIELD("status." list "[].lastState.terminated.reason", "3." number ".3.3.3",            \
            Text(v, &At(c.all, i).last_exit_reason)),                                         \
      FIELD("status." list "[].lastState.terminated.message", "3." number ".3.3.4",           \
            Text(v, &At(c.all, i).last_termination_message, kTerminationMessageBytesMax))

// The numbers: generated.proto of k8s.io/api/core/v1 (a Pod) and of
// k8s.io/apimachinery/pkg/apis/meta/v1.
const std::vector<Field>& Fields() {
  static const std::vector<Field> fields = {
      FIELD("metadata.namespace", "1.3", Text(v, &c.meta.ns)),
      FIELD("metadata.name", "1.1", Text(v, &c.meta.name)),
      FIELD("metadata.uid", "1.5", Text(v, &c.meta.uid)),
      FIELD("metadata.resourceVersion", "1.6", Text(v, &c.meta.resource_version)),
      FIELD("metadata.generation", "1.7", Number<int64_t>(v, &c.meta.generation)),
      FIELD("metadata.creationTimestamp", "1.8", Time(v, &c.meta.creation_time)),
      FIELD("metadata.deletionTimestamp", "1.9", Time(v, &c.meta.deletion_time)),
      FIELD("metadata.deletionGracePeriodSeconds", "1.10", Number<int64_t>(v, &c.deletion_grace)),
      FIELD("metadata.ownerReferences[].uid", "1.13.4", Text(v, &At(c.owners, i).uid)),
      FIELD("metadata.ownerReferences[].kind", "1.13.1", Text(v, &At(c.owners, i).kind)),
      FIELD("metadata.ownerReferences[].controller", "1.13.6",
            Flag(v, &At(c.owners, i).controller)),
      FIELD("metadata.labels.taas.dev/job-name", "1.11", Text(v, &c.job)),
      FIELD("metadata.labels.taas.dev/role", "1.11", Text(v, &c.role)),
      FIELD("metadata.labels.taas.dev/index", "1.11", Text(v, &c.index)),
      FIELD("metadata.labels.taas.dev/attempt", "1.11", Text(v, &c.attempt)),
      FIELD("metadata.labels.taas.dev/pod-number", "1.11", Text(v, &c.pod_number)),
      FIELD("metadata.annotations.taas.dev/bootstrap", "1.12", Text(v, &c.bootstrap)),
      FIELD("metadata.annotations.taas.dev/job-token", "1.12", Text(v, &c.token)),
      FIELD("metadata.annotations.taas.dev/cluster-map", "1.12", Text(v, &c.cluster_map)),
      FIELD("metadata.annotations.taas.dev/epoch", "1.12", Text(v, &c.epoch)),
      FIELD("metadata.annotations.taas.dev/template", "1.12", Text(v, &c.template_hash)),
      FIELD("metadata.annotations.taas.dev/requests", "1.12", Text(v, &c.requests)),
      FIELD("metadata.annotations.kueue.x-k8s.io/retriable-in-group", "1.12",
            Text(v, &c.retriable)),
      FIELD("metadata.annotations.taas.dev/pod-group-spec", "1.12", Text(v, &c.group_spec)),
      FIELD("metadata.finalizers[]", "1.14", Finalizer(v, &c.held_by_kueue)),
      FIELD("spec.minMember", "", Number<int32_t>(v, &c.min_member)),
      FIELD("spec.nodeName", "2.10", Text(v, &c.node)),
      FIELD("spec.restartPolicy", "2.3", Text(v, &c.restart_policy)),
      FIELD("spec.containers[].name", "2.2.1", Text(v, &At(c.containers, i).name)),
      FIELD("spec.containers[].image", "2.2.2", Text(v, &At(c.containers, i).image)),
      FIELD("spec.initContainers[].name", "2.20.1", Text(v, &At(c.init_containers, i).name)),
      FIELD("spec.initContainers[].image", "2.20.2", Text(v, &At(c.init_containers, i).image)),
      FIELD("spec.initContainers[].restartPolicy", "2.20.24",
            Text(v, &At(c.init_containers, i).restart_policy)),
      FIELD("status.phase", "3.1", Text(v, &c.phase)),
      FIELD("status.reason", "3.4", Text(v, &c.reason)),
      FIELD("status.message", "3.3", Sentence(v, &c.message)),
      FIELD("status.podIP", "3.6", Text(v, &c.ip)),
      FIELD("status.conditions[].type", "3.2.1", Text(v, &At(c.conditions, i).type)),
      FIELD("status.conditions[].status", "3.2.2", Text(v, &At(c.conditions, i).status)),
      FIELD("status.conditions[].reason", "3.2.5", Text(v, &At(c.conditions, i).reason)),
      FIELD("status.conditions[].message", "3.2.6", Sentence(v, &At(c.conditions, i).message)),
      STATUS_FIELDS("containerStatuses", "8", statuses),
      STATUS_FIELDS("initContainerStatuses", "10", init_statuses),
  };
  return fields;
}
#undef STATUS_FIELDS
#undef FIELD

// The table as a tree: what is on no path to a field is passed over as it is.
struct Node {
  std::map<std::string, Node, std::less<>> members;
  std::map<int, Node*> numbers;  // The same ones.
  std::unique_ptr<Node> elements;
  bool is_map = false;  // In protobuf a message for each member.
  const Field* field = nullptr;
};

// The part of `path` before `separator`, which it loses with that.
std::string_view TakePart(char separator, std::string_view* path) {
  const std::string_view part = path->substr(0, path->find(separator));
  path->remove_prefix(std::min(path->size(), part.size() + 1));
  return part;
}

void Plant(const Field& field, Node* root) {
  Node* node = root;
  std::string_view path = field.path, numbers = field.numbers;
  while (!path.empty()) {
    std::string_view part = node->is_map ? std::exchange(path, {}) : TakePart('.', &path);
    const bool array = part.ends_with("[]");
    if (array) part.remove_suffix(2);
    Node* const parent = std::exchange(node, &node->members[std::string(part)]);
    if (!numbers.empty()) {
      int number = 0;
      const std::string_view text = TakePart('.', &numbers);
      std::from_chars(text.data(), text.data() + text.size(), number);
      parent->numbers[number] = node;
    }
    node->is_map = part == "labels" || part == "annotations";
    if (!array) continue;
    if (node->elements == nullptr) node->elements = std::make_unique<Node>();
    node = node->elements.get();
  }
  node->field = &field;
}

Node TreeOf(std::string_view prefix) {
  Node root;
  for (const Field& field : Fields()) {
    if (field.path.starts_with(prefix)) Plant(field, &root);
  }
  return root;
}

absl::Status Set(const Field& field, size_t index, const Scalar& value, ObjectFields* out) {
  if (field.set(*out, index, value)) return absl::OkStatus();
  return absl::InvalidArgumentError(std::string(field.path) + " has a value of the wrong type");
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

// Walks through a text of JSON once and hands the fields of the table to their setters.
class JsonReader {
 public:
  JsonReader(std::string_view json, ObjectFields* out) : scanner_(json), out_(out) {}

  absl::Status Read(const Node& root) {
    if (scanner_.Peek() != '{') return scanner_.Error("an object is expected");
    RETURN_IF_ERROR(Value(root, 0));
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
    return Set(*node.field, index, value, out_);
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
  ObjectFields* const out_;
};

// The same for a message of protobuf.
class ProtobufReader {
 public:
  explicit ProtobufReader(ObjectFields* out) : out_(out) {}

  // No deeper than the table.
  absl::Status Message(const Node& node, size_t index, std::string_view message) {
    std::map<const Node*, size_t> counts;  // Of elements so far.
    return ForEachField(message, [&](const ProtobufField& field) -> absl::Status {
      const auto found = node.numbers.find(field.number);
      if (found == node.numbers.end()) return absl::OkStatus();
      const Node* child = found->second;
      if (child->is_map) return Entry(*child, field.bytes);
      if (child->elements == nullptr) return Value(*child, index, field);
      return Value(*child->elements, counts[child]++, field);
    });
  }

 private:
  absl::Status Value(const Node& node, size_t index, const ProtobufField& field) {
    if (node.field == nullptr) return Message(node, index, field.bytes);
    return Set(*node.field, index,
               field.has_bytes ? Scalar(Bytes{field.bytes}) : Scalar(Varint{field.varint}), out_);
  }

  absl::Status Entry(const Node& map, std::string_view message) {
    constexpr int kKey = 1, kValue = 2;
    std::string_view key, value;
    RETURN_IF_ERROR(ForEachField(message, [&](const ProtobufField& field) {
      if (field.number == kKey) key = field.bytes;
      if (field.number == kValue) value = field.bytes;
      return absl::OkStatus();
    }));
    const auto member = map.members.find(key);
    if (member == map.members.end()) return absl::OkStatus();
    return Set(*member->second.field, 0, Bytes{value}, out_);
  }

  ObjectFields* const out_;
};

absl::Status ReadInto(const Node& tree, std::string_view object, ObjectFields* out) {
  if (!IsKubeProtobuf(object)) return JsonReader(object, out).Read(tree);
  ASSIGN_OR_RETURN(const std::string_view message, UnwrapKubeProtobuf(object));
  return ProtobufReader(out).Message(tree, 0, message);
}

absl::StatusOr<ObjectFields> Read(const Node& tree, std::string_view object) {
  ObjectFields fields;
  const absl::Status read = ReadInto(tree, object, &fields);
  if (!read.ok()) {
    return absl::InvalidArgumentError("decode object " + fields.meta.ns + "/" + fields.meta.name +
                                      ": " + std::string(read.message()));
  }
  if (fields.meta.name.empty()) {
    return absl::InvalidArgumentError("decode object: metadata.name is missing");
  }
  return fields;
}

}  // namespace

absl::StatusOr<ObjectFields> ReadObjectFields(std::string_view object) {
  static const Node tree = TreeOf("");
  return Read(tree, object);
}

absl::StatusOr<ObjectFields> ReadObjectMetadata(std::string_view object) {
  static const Node tree = TreeOf("metadata.");
  return Read(tree, object);
}

}  // namespace taas
