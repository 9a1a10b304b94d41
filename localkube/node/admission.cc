#include "localkube/node/admission.h"

#include <cstdint>

#include "localkube/node/pod_json.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

struct Need {
  const char* name;
  int64_t wanted;
  int64_t used;
  int64_t capacity;
};

}  // namespace

std::optional<Refusal> Admit(const Resources& wanted, const std::vector<Resources>& others,
                             const Resources& allocatable) {
  Resources used;
  for (const Resources& other : others) used = Sum(used, other);
  // The first that lacks is named, in this order.
  const Need needs[] = {
      {"pods", 1, static_cast<int64_t>(others.size()), kPodsPerNodeMax},
      {"cpu", wanted.cpu_milli, used.cpu_milli, allocatable.cpu_milli},
      {"memory", wanted.memory_bytes, used.memory_bytes, allocatable.memory_bytes},
      {kGpuResource, wanted.gpus, used.gpus, allocatable.gpus},
  };
  for (const Need& need : needs) {
    // Whoever asks for nothing fits a node that is too full.
    if (need.wanted <= 0 || need.wanted <= need.capacity - need.used) continue;
    const std::string name = need.name;
    return Refusal{.reason = "OutOf" + name,
                   .message = "Node didn't have enough resource: " + name +
                              ", requested: " + std::to_string(need.wanted) +
                              ", used: " + std::to_string(need.used) +
                              ", capacity: " + std::to_string(need.capacity)};
  }
  return std::nullopt;
}

std::string RefusedStatus(const Json& pod, const Refusal& refusal, const std::string& now) {
  Json status = Member(pod, "status");
  if (!status.is_object()) status = Json::object();
  status["phase"] = "Failed";
  status["reason"] = refusal.reason;
  status["message"] = "Pod was rejected: " + refusal.message;
  if (Text(status, "startTime").empty()) status["startTime"] = now;
  status.erase("containerStatuses");
  return status.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace taas::localkube
