#include "localkube/node/schedule.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "localkube/node/pod_json.h"
#include "operator/api/quantity.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

constexpr char kAffinityRefusal[] = "node(s) didn't match Pod's node affinity/selector";

int64_t Add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

Resources Larger(const Resources& a, const Resources& b) {
  return {std::max(a.cpu_milli, b.cpu_milli), std::max(a.memory_bytes, b.memory_bytes),
          std::max(a.gpus, b.gpus)};
}

Resources RequestsOf(const Json& container) {
  const Json& resources = Member(container, "resources");
  const Json& requests = Member(resources, "requests");
  // A limit without a request is the request.
  const auto amount = [&](const char* name) {
    return requests.is_object() && requests.contains(name)
               ? AmountMilli(requests, name)
               : AmountMilli(Member(resources, "limits"), name);
  };
  return {amount("cpu"), amount("memory") / 1000, amount(kGpuResource) / 1000};
}

// Init containers run one after the other before the rest starts.
Resources PodRequests(const Json& spec) {
  Resources together, largest;
  for (const Json& container : Elements(spec, "containers")) {
    together = Sum(together, RequestsOf(container));
  }
  for (const Json& container : Elements(spec, "initContainers")) {
    largest = Larger(largest, RequestsOf(container));
  }
  return Larger(together, largest);
}

// A node and what is in use on it.
struct Room {
  const NodeState* node = nullptr;
  Resources used;
  int64_t pods = 0;
};

using Reasons = std::vector<std::string>;

// Why the pod cannot go there; of one sort of reason, the first that applies, as in kube-scheduler.
Reasons Refusals(const PodToPlace& pod, const Room& room) {
  const NodeState& node = *room.node;
  if (node.unschedulable) return {"node(s) were unschedulable"};
  if (const Taint* taint = Untolerated(node.taints, pod.tolerations); taint != nullptr) {
    return {"node(s) had untolerated taint {" + taint->key + ": " + taint->value + "}"};
  }
  if (!Allows(pod.rules, node.name, node.labels)) return {kAffinityRefusal};
  Reasons out;
  if (room.pods >= node.pods_max) out.push_back("Too many pods");
  const auto require = [&](int64_t wanted, int64_t used, int64_t all, const char* name) {
    if (wanted > 0 && wanted > all - used) out.push_back(std::string("Insufficient ") + name);
  };
  require(pod.requests.cpu_milli, room.used.cpu_milli, node.allocatable.cpu_milli, "cpu");
  require(pod.requests.memory_bytes, room.used.memory_bytes, node.allocatable.memory_bytes,
          "memory");
  require(pod.requests.gpus, room.used.gpus, node.allocatable.gpus, kGpuResource);
  return out;
}

std::string Message(size_t nodes, const std::map<std::string, int>& counts) {
  if (nodes == 0) return "no nodes available to schedule pods";
  Reasons reasons;
  for (const auto& [reason, count] : counts) {
    reasons.push_back(std::to_string(count) + " " + reason);
  }
  std::sort(reasons.begin(), reasons.end());
  std::string out = "0/" + std::to_string(nodes) + " nodes are available: ";
  for (size_t i = 0; i < reasons.size(); ++i) out += (i == 0 ? "" : ", ") + reasons[i];
  return out + ".";
}

// 1.5 of 1,500 thousandths; bytes in MiB.
std::string CpuText(int64_t milli) {
  std::string text = std::to_string(milli / 1000);
  if (milli % 1000 != 0) {
    std::string rest = std::to_string(1000 + milli % 1000).substr(1);
    rest.resize(rest.find_last_not_of('0') + 1);
    text += "." + rest;
  }
  return text;
}
std::string MemoryText(int64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }
std::string ByteText(int64_t bytes) { return std::to_string(bytes) + " bytes"; }

// Of what no node will ever have, how much that is, which a kube-scheduler does not say.
std::string TooLarge(const Resources& wanted, const std::vector<Room>& rooms) {
  Resources most;
  for (const Room& room : rooms) most = Larger(most, room.node->allocatable);
  std::string out;
  const auto tell = [&out](int64_t wants, int64_t has, const char* name, const auto& text) {
    if (wants <= has) return;
    out += " It asks for " + text(wants) + " " + name + ", and no node has more than " +
           text(has) + ".";
  };
  tell(wanted.cpu_milli, most.cpu_milli, "cpu", CpuText);
  // Less than a MiB may be what is missing.
  const bool alike = wanted.memory_bytes >> 20 == most.memory_bytes >> 20;
  tell(wanted.memory_bytes, most.memory_bytes, "memory", alike ? ByteText : MemoryText);
  tell(wanted.gpus, most.gpus, kGpuResource, [](int64_t n) { return std::to_string(n); });
  return out;
}

double Share(int64_t used, int64_t all) {
  return all > 0 ? static_cast<double>(used) / static_cast<double>(all) : 0;
}

// Smaller is better: what the pod would rather have, then the room that is left.
auto Cost(const PodToPlace& pod, const Room& room) {
  const NodeState& node = *room.node;
  const Resources& all = node.allocatable;
  const double share = Share(room.used.cpu_milli, all.cpu_milli) +
                       Share(room.used.memory_bytes, all.memory_bytes) +
                       Share(room.used.gpus, all.gpus);
  return std::make_tuple(Dislikes(node.taints, pod.tolerations),
                         -Preference(pod.rules, node.name, node.labels), share, room.pods);
}

// The best room for the pod; null, and the reasons counted, if there is none.
Room* FindRoom(const PodToPlace& pod, std::vector<Room>* rooms,
               std::map<std::string, int>* counts) {
  Room* best = nullptr;
  for (Room& room : *rooms) {
    const Reasons reasons = Refusals(pod, room);
    for (const std::string& reason : reasons) ++(*counts)[reason];
    if (!reasons.empty()) continue;
    if (best == nullptr || Cost(pod, room) < Cost(pod, *best)) best = &room;
  }
  return best;
}

}  // namespace

Resources Sum(const Resources& a, const Resources& b) {
  return {Add(a.cpu_milli, b.cpu_milli), Add(a.memory_bytes, b.memory_bytes),
          Add(a.gpus, b.gpus)};
}

int64_t AmountMilli(const Json& list, const char* name) {
  const Json& value = Member(list, name);
  if (value.is_string()) return SaturatedMilli(value.get_ref<const std::string&>());
  return value.is_number() ? SaturatedMilli(value.dump()) : 0;
}

PodToPlace ReadPodToPlace(const Json& pod) {
  PodToPlace out;
  const Json& meta = Member(pod, "metadata");
  const Json& spec = Member(pod, "spec");
  out.key = Text(meta, "namespace") + "/" + Text(meta, "name");
  out.created = Text(meta, "creationTimestamp");
  out.node = Text(spec, "nodeName");
  const std::string phase = Text(Member(pod, "status"), "phase");
  out.holds = phase != "Succeeded" && phase != "Failed";
  out.requests = PodRequests(spec);
  out.rules = ReadNodeRules(spec);
  out.tolerations = ReadTolerations(spec);
  return out;
}

NodeState ReadNodeState(const Json& node) {
  NodeState out;
  const Json& meta = Member(node, "metadata");
  const Json& spec = Member(node, "spec");
  out.name = Text(meta, "name");
  if (const Json& labels = Member(meta, "labels"); labels.is_object()) {
    for (const auto& [key, value] : labels.items()) {
      out.labels[key] = value.is_string() ? value.get<std::string>() : "";
    }
  }
  out.taints = ReadTaints(spec);
  out.unschedulable = Flag(spec, "unschedulable");
  const Json& amounts = Member(Member(node, "status"), "allocatable");
  out.allocatable = {AmountMilli(amounts, "cpu"), AmountMilli(amounts, "memory") / 1000,
                     AmountMilli(amounts, kGpuResource) / 1000};
  if (amounts.contains("pods")) out.pods_max = AmountMilli(amounts, "pods") / 1000;
  return out;
}

std::vector<Placement> Schedule(const std::vector<NodeState>& nodes,
                                std::vector<PodToPlace> pods) {
  std::sort(pods.begin(), pods.end(), [](const PodToPlace& a, const PodToPlace& b) {
    return std::tie(a.created, a.key) < std::tie(b.created, b.key);
  });
  std::vector<Room> rooms;
  for (const NodeState& node : nodes) rooms.push_back({.node = &node, .used = {}});
  const auto take = [](const PodToPlace& pod, Room* room) {
    room->used = Sum(room->used, pod.requests);
    ++room->pods;
  };
  for (const PodToPlace& pod : pods) {
    if (pod.node.empty() || !pod.holds) continue;
    for (Room& room : rooms) {
      if (room.node->name == pod.node) take(pod, &room);
    }
  }
  std::vector<Placement> out;
  for (const PodToPlace& pod : pods) {
    if (!pod.node.empty() || !pod.holds) continue;
    std::map<std::string, int> counts;
    Room* room = FindRoom(pod, &rooms, &counts);
    if (room == nullptr) {
      const std::string more = rooms.empty() ? "" : TooLarge(pod.requests, rooms);
      out.push_back({pod.key, "", Message(nodes.size(), counts) + more});
      continue;
    }
    take(pod, room);
    out.push_back({pod.key, room->node->name, ""});
  }
  return out;
}

}  // namespace taas::localkube
