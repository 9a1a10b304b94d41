#include "localkube/api/tables.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "localkube/api/custom_kinds.h"
#include "localkube/api/json_path.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

struct Column {
  const char* name;
  const char* type = "string";
  int priority = 0;  // 1: only with -o wide.
};

std::string Text(const json& object, std::string_view path, const std::string& otherwise = "") {
  const json* value = FindJsonPath(object, path);
  if (value == nullptr || value->is_null()) return otherwise;
  return value->is_string() ? value->get<std::string>() : value->dump();
}

int64_t Number(const json& object, std::string_view path) {
  const json* value = FindJsonPath(object, path);
  return value != nullptr && value->is_number_integer() ? value->get<int64_t>() : 0;
}

bool Flag(const json& object, std::string_view path) {
  const json* value = FindJsonPath(object, path);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

const json& Items(const json& object, std::string_view path) {
  static const json kNone = json::array();
  const json* value = FindJsonPath(object, path);
  return value != nullptr && value->is_array() ? *value : kNone;
}

size_t Members(const json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_object() ? found->size() : 0;
}

// Kubernetes' duration.HumanDuration.
std::string HumanDuration(int64_t seconds) {
  const auto text = [](int64_t a, const char* unit_a, int64_t b, const char* unit_b) {
    return std::to_string(a) + unit_a + (b == 0 ? "" : std::to_string(b) + unit_b);
  };
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return text(seconds, "s", 0, "");
  const int64_t minutes = seconds / 60;
  if (minutes < 10) return text(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return text(minutes, "m", 0, "");
  const int64_t hours = minutes / 60;
  if (hours < 8) return text(hours, "h", minutes % 60, "m");
  if (hours < 48) return text(hours, "h", 0, "");
  if (hours < 24 * 8) return text(hours / 24, "d", hours % 24, "h");
  if (hours < 24 * 365 * 2) return text(hours / 24, "d", 0, "");
  if (hours < 24 * 365 * 8) return text(hours / 24 / 365, "y", hours / 24 % 365, "d");
  return text(hours / 24 / 365, "y", 0, "");
}

std::string AgeOf(const json& object, Clock::WallTime now) {
  return Age(Text(object, ".metadata.creationTimestamp"), now);
}

std::string TerminatedReason(const json& terminated) {
  const std::string reason = Text(terminated, ".reason");
  if (!reason.empty()) return reason;
  const int64_t signal = Number(terminated, ".signal");
  if (signal != 0) return "Signal:" + std::to_string(signal);
  return "ExitCode:" + std::to_string(Number(terminated, ".exitCode"));
}

// What the first init container that has not succeeded does; empty if there is none.
std::string InitReason(const json& pod) {
  const json& statuses = Items(pod, ".status.initContainerStatuses");
  for (size_t i = 0; i < statuses.size(); ++i) {
    const json* terminated = FindJsonPath(statuses[i], ".state.terminated");
    if (terminated != nullptr && Number(*terminated, ".exitCode") == 0) continue;
    if (terminated != nullptr) return "Init:" + TerminatedReason(*terminated);
    const std::string waiting = Text(statuses[i], ".state.waiting.reason");
    if (!waiting.empty() && waiting != "PodInitializing") return "Init:" + waiting;
    return "Init:" + std::to_string(i) + "/" + std::to_string(statuses.size());
  }
  return "";
}

// The STATUS column, as kubectl's printPod finds it.
std::string PodReason(const json& pod) {
  std::string reason = Text(pod, ".status.phase");
  if (const std::string own = Text(pod, ".status.reason"); !own.empty()) reason = own;
  bool running = false;
  const std::string init = InitReason(pod);
  if (!init.empty()) reason = init;
  static const json kNone = json::array();
  const json& statuses = init.empty() ? Items(pod, ".status.containerStatuses") : kNone;
  for (auto it = statuses.rbegin(); it != statuses.rend(); ++it) {
    const json* terminated = FindJsonPath(*it, ".state.terminated");
    if (const std::string waiting = Text(*it, ".state.waiting.reason"); !waiting.empty()) {
      reason = waiting;
    } else if (terminated != nullptr) {
      reason = TerminatedReason(*terminated);
    } else if (Flag(*it, ".ready") && FindJsonPath(*it, ".state.running") != nullptr) {
      running = true;
    }
  }
  if (reason == "Completed" && running) reason = "Running";
  if (FindJsonPath(pod, ".metadata.deletionTimestamp") != nullptr) {
    const std::string phase = Text(pod, ".status.phase");
    if (Text(pod, ".status.reason") == "NodeLost") return "Unknown";
    if (phase != "Failed" && phase != "Succeeded") return "Terminating";
  }
  return reason;
}

json PodCells(const json& pod, Clock::WallTime now) {
  int64_t restarts = 0;
  int ready = 0;
  std::string last;
  for (const json& status : Items(pod, ".status.containerStatuses")) {
    restarts += Number(status, ".restartCount");
    if (Flag(status, ".ready")) ++ready;
    last = std::max(last, Text(status, ".lastState.terminated.finishedAt"));
  }
  std::string restarts_text = std::to_string(restarts);
  if (restarts > 0 && !last.empty()) restarts_text += " (" + Age(last, now) + " ago)";
  const size_t containers = Items(pod, ".spec.containers").size();
  return {Text(pod, ".metadata.name"),
          std::to_string(ready) + "/" + std::to_string(containers),
          PodReason(pod),
          restarts_text,
          AgeOf(pod, now),
          Text(pod, ".status.podIP", "<none>"),
          Text(pod, ".spec.nodeName", "<none>"),
          Text(pod, ".status.nominatedNodeName", "<none>"),
          "<none>"};
}

json ServiceCells(const json& service, Clock::WallTime now) {
  std::string ports, selector;
  for (const json& port : Items(service, ".spec.ports")) {
    ports += (ports.empty() ? "" : ",") + Text(port, ".port") + "/" +
             Text(port, ".protocol", "TCP");
  }
  if (const json* labels = FindJsonPath(service, ".spec.selector");
      labels != nullptr && labels->is_object()) {
    for (const auto& [key, value] : labels->items()) {
      selector += (selector.empty() ? "" : ",") + key + "=" +
                  (value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return {Text(service, ".metadata.name"), Text(service, ".spec.type"),
          Text(service, ".spec.clusterIP", "<none>"), "<none>",
          ports.empty() ? "<none>" : ports, AgeOf(service, now),
          selector.empty() ? "<none>" : selector};
}

json NodeCells(const json& node, Clock::WallTime now) {
  const std::string ready = Text(node, ".status.conditions[?(@.type==\"Ready\")].status");
  std::string status = ready == "True" ? "Ready" : ready.empty() ? "Unknown" : "NotReady";
  if (Text(node, ".spec.unschedulable") == "true") status += ",SchedulingDisabled";
  return {Text(node, ".metadata.name"),
          status,
          "<none>",
          AgeOf(node, now),
          Text(node, ".status.nodeInfo.kubeletVersion"),
          Text(node, ".status.addresses[?(@.type==\"InternalIP\")].address", "<none>"),
          "<none>",
          Text(node, ".status.nodeInfo.osImage", "<unknown>"),
          Text(node, ".status.nodeInfo.kernelVersion", "<unknown>"),
          Text(node, ".status.nodeInfo.containerRuntimeVersion", "<unknown>")};
}

json EventCells(const json& event, Clock::WallTime now) {
  std::string last = Text(event, ".lastTimestamp");
  if (last.empty()) last = Text(event, ".eventTime");
  if (last.empty()) last = Text(event, ".metadata.creationTimestamp");
  std::string first = Text(event, ".firstTimestamp");
  if (first.empty()) first = last;
  const int64_t count = Number(event, ".count");
  std::string seen = Age(last, now);
  if (count > 1) seen += " (x" + std::to_string(count) + " over " + Age(first, now) + ")";
  std::string object = Text(event, ".involvedObject.kind");
  for (char& c : object) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  object += "/" + Text(event, ".involvedObject.name");
  std::string source = Text(event, ".source.component");
  if (source.empty()) source = Text(event, ".reportingComponent");
  return {seen,
          Text(event, ".type"),
          Text(event, ".reason"),
          object,
          Text(event, ".involvedObject.fieldPath"),
          source,
          Text(event, ".message"),
          Age(first, now),
          count > 1 ? count : 1,
          Text(event, ".metadata.name")};
}

json ClaimCells(const json& claim, Clock::WallTime now) {
  std::string modes;
  for (const json& mode : Items(claim, ".status.accessModes")) {
    const std::string name = mode.is_string() ? mode.get<std::string>() : "";
    modes += (modes.empty() ? "" : ",");
    modes += name == "ReadWriteOnce"   ? "RWO"
             : name == "ReadOnlyMany"  ? "ROX"
             : name == "ReadWriteMany" ? "RWX"
                                       : "RWOP";
  }
  return {Text(claim, ".metadata.name"),
          Text(claim, ".status.phase"),
          Text(claim, ".spec.volumeName"),
          Text(claim, ".status.capacity.storage"),
          modes,
          Text(claim, ".spec.storageClassName"),
          "<unset>",
          AgeOf(claim, now),
          Text(claim, ".spec.volumeMode", "Filesystem")};
}

json CustomCells(const Kind& kind, const json& object, Clock::WallTime now) {
  json cells = {Text(object, ".metadata.name")};
  for (const json& column : CustomKindOf(kind).columns) {
    const json* value = FindJsonPath(object, column.value("jsonPath", ""));
    if (value == nullptr || value->is_null()) {
      cells.push_back(nullptr);
    } else if (column.value("type", "") == "date") {
      cells.push_back(value->is_string() ? Age(value->get<std::string>(), now) : "<unknown>");
    } else if (column.value("type", "") == "string" && !value->is_string()) {
      cells.push_back(value->dump());
    } else {
      cells.push_back(*value);
    }
  }
  return cells;
}

// "12n" and "8Ki" of one container and the same units of the next one: their sum.
std::string SumOf(const json& amounts, const char* unit) {
  int64_t sum = 0;
  for (const json& amount : amounts) {
    if (amount.is_string()) {
      sum += std::strtoll(amount.get_ref<const std::string&>().c_str(), nullptr, 10);
    }
  }
  return sum == 0 ? "0" : std::to_string(sum) + unit;
}

// Of a PodMetrics or a NodeMetrics, which metrics.cc writes in nanocores and Ki.
json MetricsCells(const json& object) {
  json cpu = json::array(), memory = json::array();
  const auto add = [&](const json& of) {
    cpu.push_back(Text(of, ".usage.cpu"));
    memory.push_back(Text(of, ".usage.memory"));
  };
  if (object.contains("usage")) add(object);
  for (const json& container : Items(object, ".containers")) add(container);
  return {Text(object, ".metadata.name"), SumOf(cpu, "n"), SumOf(memory, "Ki"),
          Text(object, ".window")};
}

std::vector<Column> ColumnsOf(const Kind& kind) {
  if (kind.kind == "Pod") {
    return {{"Name"}, {"Ready"}, {"Status"}, {"Restarts"}, {"Age"}, {"IP", "string", 1},
            {"Node", "string", 1}, {"Nominated Node", "string", 1},
            {"Readiness Gates", "string", 1}};
  }
  if (kind.kind == "Service") {
    return {{"Name"}, {"Type"}, {"Cluster-IP"}, {"External-IP"}, {"Port(s)"}, {"Age"},
            {"Selector", "string", 1}};
  }
  if (kind.kind == "Node") {
    return {{"Name"}, {"Status"}, {"Roles"}, {"Age"}, {"Version"}, {"Internal-IP", "string", 1},
            {"External-IP", "string", 1}, {"OS-Image", "string", 1},
            {"Kernel-Version", "string", 1}, {"Container-Runtime", "string", 1}};
  }
  if (kind.kind == "Event") {
    return {{"Last Seen"}, {"Type"}, {"Reason"}, {"Object"}, {"Subobject", "string", 1},
            {"Source", "string", 1}, {"Message"}, {"First Seen", "string", 1},
            {"Count", "integer", 1}, {"Name", "string", 1}};
  }
  if (kind.kind == "PersistentVolumeClaim") {
    return {{"Name"}, {"Status"}, {"Volume"}, {"Capacity"}, {"Access Modes"}, {"StorageClass"},
            {"VolumeAttributesClass"}, {"Age"}, {"VolumeMode", "string", 1}};
  }
  if (kind.kind == "Namespace") return {{"Name"}, {"Status"}, {"Age"}};
  if (kind.kind == "Lease") return {{"Name"}, {"Holder"}, {"Age"}};
  if (kind.kind == "ServiceAccount") return {{"Name"}, {"Secrets", "integer"}, {"Age"}};
  if (kind.kind == "ConfigMap") return {{"Name"}, {"Data", "integer"}, {"Age"}};
  if (kind.kind == "Secret") return {{"Name"}, {"Type"}, {"Data", "integer"}, {"Age"}};
  if (kind.measured) return {{"Name"}, {"cpu"}, {"memory"}, {"Window"}};
  return {{"Name"}, {"Created At"}};
}

json Cells(const Kind& kind, const json& object, Clock::WallTime now) {
  const std::string name = Text(object, ".metadata.name");
  if (kind.custom) return CustomCells(kind, object, now);
  if (kind.measured) return MetricsCells(object);
  if (kind.kind == "Pod") return PodCells(object, now);
  if (kind.kind == "Service") return ServiceCells(object, now);
  if (kind.kind == "Node") return NodeCells(object, now);
  if (kind.kind == "Event") return EventCells(object, now);
  if (kind.kind == "PersistentVolumeClaim") return ClaimCells(object, now);
  if (kind.kind == "Namespace") return {name, Text(object, ".status.phase"), AgeOf(object, now)};
  if (kind.kind == "Lease") {
    return {name, Text(object, ".spec.holderIdentity"), AgeOf(object, now)};
  }
  if (kind.kind == "ServiceAccount") {
    return {name, Items(object, ".secrets").size(), AgeOf(object, now)};
  }
  if (kind.kind == "ConfigMap") {
    return {name, Members(object, "data") + Members(object, "binaryData"), AgeOf(object, now)};
  }
  if (kind.kind == "Secret") {
    return {name, Text(object, ".type"), Members(object, "data"), AgeOf(object, now)};
  }
  return {name, Text(object, ".metadata.creationTimestamp")};
}

}  // namespace

std::string Age(const std::string& created, Clock::WallTime now) {
  Clock::WallTime time;
  if (!ParseRfc3339(created, &time)) return "<unknown>";
  return HumanDuration(std::chrono::floor<std::chrono::seconds>(now - time).count());
}

json TableColumns(const Kind& kind) {
  json columns = json::array();
  const auto add = [&columns](const std::string& name, const std::string& type, int priority,
                              const std::string& description) {
    columns.push_back({{"name", name},
                       {"type", type},
                       {"format", name == "Name" ? "name" : ""},
                       {"description", description},
                       {"priority", priority}});
  };
  if (kind.custom) {
    add("Name", "string", 0, "Name of the object.");
    for (const json& column : CustomKindOf(kind).columns) {
      add(column.value("name", ""), column.value("type", "string"), column.value("priority", 0),
          column.value("description", ""));
    }
    return columns;
  }
  for (const Column& column : ColumnsOf(kind)) {
    add(column.name, column.type, column.priority, column.name);
  }
  return columns;
}

json TableRow(const Kind& kind, const json& object, Clock::WallTime now, IncludeObject include) {
  json row = {{"cells", Cells(kind, object, now)}};
  if (include == IncludeObject::kObject) {
    row["object"] = object;
  } else if (include == IncludeObject::kMetadata) {
    row["object"] = {{"kind", "PartialObjectMetadata"},
                     {"apiVersion", "meta.k8s.io/v1"},
                     {"metadata", object.value("metadata", json::object())}};
  }
  return row;
}

json EmptyTable(const Kind& kind, json metadata) {
  return {{"kind", "Table"},
          {"apiVersion", "meta.k8s.io/v1"},
          {"metadata", std::move(metadata)},
          {"columnDefinitions", TableColumns(kind)},
          {"rows", json::array()}};
}

}  // namespace taas::localkube
