#include "cli/allocation.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "cli/table.h"
#include "operator/api/job.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// Null where there is no such member.
const Json& Member(const Json& object, std::string_view key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(std::string(key));
  return found != object.end() ? *found : kNull;
}

std::string Text(const Json& object, std::string_view key) {
  const Json& value = Member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

int64_t Milli(const Json& amounts, const std::string& name) {
  const Json& value = Member(amounts, name);
  if (value.is_number()) return std::llround(value.get<double>() * 1000);
  return value.is_string() ? ParseMilli(value.get_ref<const std::string&>()).value_or(0) : 0;
}

Amounts AmountsOf(const Json& amounts, const std::string& gpu_resource) {
  return {.milli_cpu = Milli(amounts, "cpu"),
          .memory = Milli(amounts, "memory") / 1000,
          .gpus = Milli(amounts, gpu_resource) / 1000};
}

// A limit without a request is a request.
Amounts RequestsOf(const Json& container, const std::string& gpu_resource) {
  const Json& resources = Member(container, "resources");
  Json amounts = Member(resources, "limits");
  if (!amounts.is_object()) amounts = Json::object();
  const Json& requests = Member(resources, "requests");
  if (requests.is_object()) amounts.update(requests);
  return AmountsOf(amounts, gpu_resource);
}

void Add(const Amounts& more, Amounts* to) {
  to->milli_cpu += more.milli_cpu;
  to->memory += more.memory;
  to->gpus += more.gpus;
}

void Raise(const Amounts& least, Amounts* to) {
  to->milli_cpu = std::max(to->milli_cpu, least.milli_cpu);
  to->memory = std::max(to->memory, least.memory);
  to->gpus = std::max(to->gpus, least.gpus);
}

std::vector<std::string> NodeRow(const NodeUse& node) {
  const std::vector<std::string> used = MeasuredCells(node.used);
  return {node.name,
          node.state,
          node.gpu_type,
          std::to_string(node.total.gpus),
          std::to_string(node.held.gpus),
          CpuText(node.total.milli_cpu),
          CpuText(node.held.milli_cpu),
          used[0],
          MemoryText(node.total.memory),
          MemoryText(node.held.memory),
          used[1],
          std::to_string(node.pods)};
}

}  // namespace

std::optional<int64_t> ParseMilli(std::string_view quantity) {
  const std::string text(quantity);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return std::nullopt;
  static const std::map<std::string_view, double> kUnits = {
      {"n", 1e-9},      {"u", 1e-6},
      {"", 1},          {"m", 1e-3},       {"k", 1e3},        {"M", 1e6},
      {"G", 1e9},       {"T", 1e12},       {"P", 1e15},       {"Ki", 1024.0},
      {"Mi", 0x1p20},   {"Gi", 0x1p30},    {"Ti", 0x1p40},    {"Pi", 0x1p50}};
  const auto unit = kUnits.find(std::string_view(end));
  if (unit == kUnits.end()) return std::nullopt;
  const double milli = std::ceil(number * unit->second * 1000);
  // What a signed 64 bit number holds, as in Kubernetes.
  if (!(std::abs(milli) < 9.2e18)) return std::nullopt;
  return static_cast<int64_t>(milli);
}

std::optional<MetricsObject> ReadMetricsObject(std::string_view json) {
  const Json object = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  MetricsObject out;
  const Json& meta = Member(object, "metadata");
  out.ns = Text(meta, "namespace");
  out.name = Text(meta, "name");
  if (out.name.empty()) return std::nullopt;
  Amounts sum = AmountsOf(Member(object, "usage"), "");
  if (const Json& containers = Member(object, "containers"); containers.is_array()) {
    for (const Json& container : containers) Add(AmountsOf(Member(container, "usage"), ""), &sum);
  }
  out.used = {sum.milli_cpu, sum.memory};
  return out;
}

void AddMeasured(const std::optional<Measured>& more, std::optional<Measured>* to) {
  if (!more.has_value()) return;
  const Measured sum = to->value_or(Measured());
  *to = {sum.milli_cpu + more->milli_cpu, sum.memory + more->memory};
}

std::optional<NodeUse> ReadNode(std::string_view json, const std::string& gpu_resource) {
  const Json object = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  NodeUse node;
  const Json& meta = Member(object, "metadata");
  node.name = Text(meta, "name");
  if (node.name.empty()) return std::nullopt;
  const Json& status = Member(object, "status");
  node.state = "Unknown";
  if (const Json& conditions = Member(status, "conditions"); conditions.is_array()) {
    for (const Json& condition : conditions) {
      if (Text(condition, "type") != "Ready") continue;
      node.state = Text(condition, "status") == "True" ? "Ready" : "NotReady";
    }
  }
  if (Member(Member(object, "spec"), "unschedulable") == Json(true)) {
    node.state += ",SchedulingDisabled";
  }
  node.gpu_type = Text(Member(meta, "labels"), "nvidia.com/gpu.product");
  const Json& allocatable = Member(status, "allocatable");
  node.total = AmountsOf(allocatable.is_object() ? allocatable : Member(status, "capacity"),
                         gpu_resource);
  return node;
}

std::optional<PodUse> ReadPodUse(std::string_view json, const std::string& gpu_resource) {
  const Json object = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  PodUse pod;
  const Json& meta = Member(object, "metadata");
  pod.ns = Text(meta, "namespace");
  pod.name = Text(meta, "name");
  if (pod.name.empty()) return std::nullopt;
  const Json& spec = Member(object, "spec");
  pod.node = Text(spec, "nodeName");
  pod.state = Text(Member(object, "status"), "phase");
  pod.ended = pod.state == "Succeeded" || pod.state == "Failed";
  if (!pod.ended && Member(meta, "deletionTimestamp").is_string()) pod.state = "Terminating";
  const Json& labels = Member(meta, "labels");
  if (const std::string role = Text(labels, kRoleLabel); !role.empty()) {
    pod.replica = role + "-" + Text(labels, kIndexLabel);
  }
  if (const Json& owners = Member(meta, "ownerReferences"); owners.is_array()) {
    for (const Json& owner : owners) {
      if (Member(owner, "controller") == Json(true)) pod.job_uid = Text(owner, "uid");
    }
  }
  if (const Json& containers = Member(spec, "containers"); containers.is_array()) {
    for (const Json& container : containers) Add(RequestsOf(container, gpu_resource), &pod.asked);
  }
  if (const Json& first = Member(spec, "initContainers"); first.is_array()) {
    for (const Json& container : first) Raise(RequestsOf(container, gpu_resource), &pod.asked);
  }
  if (const Json& overhead = Member(spec, "overhead"); overhead.is_object()) {
    Add(AmountsOf(overhead, gpu_resource), &pod.asked);
  }
  return pod;
}

void Charge(const PodUse& pod, std::map<std::string, NodeUse>* nodes) {
  const auto node = nodes->find(pod.node);
  if (pod.ended || node == nodes->end()) return;
  Add(pod.asked, &node->second.held);
  ++node->second.pods;
}

std::string CpuText(int64_t milli) {
  return milli % 1000 == 0 ? std::to_string(milli / 1000) : std::to_string(milli) + "m";
}

std::string MemoryText(int64_t bytes) {
  constexpr const char* kUnits[] = {"", "Ki", "Mi", "Gi", "Ti"};
  double amount = static_cast<double>(bytes);
  size_t unit = 0;
  while (amount >= 1024 && unit + 1 < std::size(kUnits)) {
    amount /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, amount < 10 && unit > 0 ? "%.1f%s" : "%.0f%s", amount,
                kUnits[unit]);
  return text;
}

std::vector<std::string> MeasuredCells(const std::optional<Measured>& used) {
  if (!used.has_value()) return {"", ""};
  return {CpuText(used->milli_cpu), MemoryText(used->memory)};
}

std::string NodeTable(const std::map<std::string, NodeUse>& nodes) {
  std::vector<std::vector<std::string>> rows = {{"NODE", "STATE", "GPU TYPE", "GPU(TOTAL)",
                                                 "GPU(HELD)", "CPU(TOTAL)", "CPU(HELD)",
                                                 "CPU(USED)", "MEM(TOTAL)", "MEM(HELD)",
                                                 "MEM(USED)", "PODS"}};
  NodeUse sum{
      .name = "(cluster)", .state = "", .gpu_type = "", .total = {}, .held = {}, .used = {}};
  int ready = 0;
  for (const auto& [name, node] : nodes) {
    rows.push_back(NodeRow(node));
    if (node.state == "Ready") ++ready;
    Add(node.total, &sum.total);
    Add(node.held, &sum.held);
    AddMeasured(node.used, &sum.used);
    sum.pods += node.pods;
  }
  sum.state = std::to_string(ready) + "/" + std::to_string(nodes.size()) + " Ready";
  rows.push_back(NodeRow(sum));
  return FormatTable(rows);
}

std::string PodTable(const std::vector<PodUse>& pods, bool with_namespace) {
  std::vector<std::vector<std::string>> rows = {
      {"POD", "REPLICA", "STATE", "NODE", "GPUS", "CPU", "MEMORY", "CPU(USED)", "MEM(USED)"}};
  if (with_namespace) rows[0].insert(rows[0].begin(), "NAMESPACE");
  for (const PodUse& pod : pods) {
    const std::vector<std::string> used = MeasuredCells(pod.used);
    rows.push_back({pod.name, pod.replica, pod.state, pod.node, std::to_string(pod.asked.gpus),
                    CpuText(pod.asked.milli_cpu), MemoryText(pod.asked.memory), used[0],
                    used[1]});
    if (with_namespace) rows.back().insert(rows.back().begin(), pod.ns);
  }
  return FormatTable(rows);
}

}  // namespace taas
