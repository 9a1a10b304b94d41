#include "localkube/node/schedule.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "nlohmann/json.hpp"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

constexpr char kAffinityRefusal[] = "node(s) didn't match Pod's node affinity/selector";

std::string Text(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

const Json& Member(const Json& object, const char* key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto it = object.find(key);
  return it == object.end() ? kNothing : *it;
}

int64_t Amount(const Json& list, const char* key) {
  const Json& value = Member(list, key);
  if (value.is_string()) return QuantityMilli(value.get<std::string>());
  return value.is_number() ? std::llround(value.get<double>() * 1000) : 0;
}

bool Matches(const Json& expression, const std::map<std::string, std::string>& labels) {
  const auto label = labels.find(Text(expression, "key"));
  const bool present = label != labels.end();
  const Json& values = Member(expression, "values");
  const bool listed =
      present && std::find(values.begin(), values.end(), label->second) != values.end();
  const std::string op = Text(expression, "operator");
  if (op == "In") return listed;
  if (op == "NotIn") return !listed;
  if (op == "Exists") return present;
  if (op == "DoesNotExist") return !present;
  return false;  // Gt and Lt: no label of this node is a number.
}

bool Allowed(const Json& pod, const NodeCapacity& node) {
  const Json& spec = Member(pod, "spec");
  const Json& selector = Member(spec, "nodeSelector");
  if (selector.is_object()) {
    for (const auto& [key, value] : selector.items()) {
      const auto label = node.labels.find(key);
      if (label == node.labels.end() || value != label->second) return false;
    }
  }
  const Json& required = Member(Member(Member(spec, "affinity"), "nodeAffinity"),
                                "requiredDuringSchedulingIgnoredDuringExecution");
  const Json& terms = Member(required, "nodeSelectorTerms");
  if (!terms.is_array()) return true;
  return std::any_of(terms.begin(), terms.end(), [&](const Json& term) {
    const Json& expressions = Member(term, "matchExpressions");
    return std::all_of(expressions.begin(), expressions.end(),
                       [&](const Json& e) { return Matches(e, node.labels); });
  });
}

}  // namespace

int64_t QuantityMilli(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return 0;
  static const std::map<std::string, double> kSuffixes = {{"", 1e3},
                                                          {"m", 1},
                                                          {"k", 1e6},
                                                          {"M", 1e9},
                                                          {"G", 1e12},
                                                          {"T", 1e15},
                                                          {"Ki", 1024e3},
                                                          {"Mi", 1048576e3},
                                                          {"Gi", 1073741824e3},
                                                          {"Ti", 1099511627776e3}};
  const auto suffix = kSuffixes.find(end);
  return suffix == kSuffixes.end() ? 0 : std::llround(std::ceil(number * suffix->second));
}

PodToPlace ReadPodToPlace(const Json& pod, const NodeCapacity& node) {
  PodToPlace out;
  const Json& meta = Member(pod, "metadata");
  out.key = Text(meta, "namespace") + "/" + Text(meta, "name");
  out.created = Text(meta, "creationTimestamp");
  out.node = Text(Member(pod, "spec"), "nodeName");
  const std::string phase = Text(Member(pod, "status"), "phase");
  out.holds = phase != "Succeeded" && phase != "Failed";
  for (const Json& container : Member(Member(pod, "spec"), "containers")) {
    const Json& resources = Member(container, "resources");
    // A limit without a request is the request.
    const auto amount = [&](const char* name) {
      const Json& requests = Member(resources, "requests");
      return requests.is_object() && requests.contains(name)
                 ? Amount(requests, name)
                 : Amount(Member(resources, "limits"), name);
    };
    out.requests.cpu_milli += amount("cpu");
    out.requests.memory_bytes += amount("memory") / 1000;
    out.requests.gpus += amount(kGpuResource) / 1000;
  }
  if (!Allowed(pod, node)) out.refusal = kAffinityRefusal;
  return out;
}

std::vector<Placement> Schedule(const NodeCapacity& node, std::vector<PodToPlace> pods) {
  std::sort(pods.begin(), pods.end(), [](const PodToPlace& a, const PodToPlace& b) {
    return std::tie(a.created, a.key) < std::tie(b.created, b.key);
  });
  Resources free = node.allocatable;
  const auto take = [&](const Resources& r) {
    free.cpu_milli -= r.cpu_milli;
    free.memory_bytes -= r.memory_bytes;
    free.gpus -= r.gpus;
  };
  for (const PodToPlace& pod : pods) {
    if (!pod.node.empty() && pod.holds) take(pod.requests);
  }
  std::vector<Placement> out;
  for (const PodToPlace& pod : pods) {
    if (!pod.node.empty() || !pod.holds) continue;
    std::string why = pod.refusal.empty() ? "" : "1 " + pod.refusal;
    const auto require = [&](int64_t wanted, int64_t left, const char* name) {
      if (wanted > 0 && wanted > left) {
        why += std::string(why.empty() ? "" : ", ") + "1 Insufficient " + name;
      }
    };
    require(pod.requests.cpu_milli, free.cpu_milli, "cpu");
    require(pod.requests.memory_bytes, free.memory_bytes, "memory");
    require(pod.requests.gpus, free.gpus, kGpuResource);
    if (why.empty()) {
      take(pod.requests);
      out.push_back({pod.key, true, ""});
    } else {
      out.push_back({pod.key, false, "0/1 nodes are available: " + why + "."});
    }
  }
  return out;
}

}  // namespace taas::localkube
