#include "localkube/node/node_objects.h"

#include <sys/utsname.h>

#include <algorithm>
#include <string>

#include "localkube/node/pod_json.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

constexpr char kNodesPath[] = "/api/v1/nodes";
// Tells our nodes from those that a user made.
constexpr char kOurs[] = "taas.dev/local-node";

Json Conditions(const std::string& time) {
  Json out = Json::array();
  for (const char* pressure : {"MemoryPressure", "DiskPressure", "PIDPressure"}) {
    out.push_back({{"type", pressure},
                   {"status", "False"},
                   {"reason", "NotWatched"},
                   {"message", "taas local does not watch it"},
                   {"lastHeartbeatTime", time},
                   {"lastTransitionTime", time}});
  }
  out.push_back({{"type", "Ready"},
                 {"status", "True"},
                 {"reason", "NodeReady"},
                 {"message", "taas local runs pods as processes"},
                 {"lastHeartbeatTime", time},
                 {"lastTransitionTime", time}});
  return out;
}

Json NodeInfo(const std::string& version) {
  utsname machine{};
  ::uname(&machine);
  return {{"kubeletVersion", version},
          {"operatingSystem", "linux"},
          {"architecture", "amd64"},
          {"osImage", "this machine"},
          {"kernelVersion", machine.release},
          {"containerRuntimeVersion", "process://1"}};
}

Json NodeObject(const NodeCapacity& node, const std::string& version, Clock::WallTime now) {
  Json amounts = {{"cpu", std::to_string(node.allocatable.cpu_milli) + "m"},
                  {"memory", std::to_string(node.allocatable.memory_bytes)},
                  {"pods", std::to_string(kPodsPerNodeMax)}};
  amounts[kGpuResource] = std::to_string(node.allocatable.gpus);
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata",
           {{"name", node.name}, {"labels", node.labels}, {"annotations", {{kOurs, "true"}}}}},
          {"spec", Json::object()},
          {"status",
           {{"capacity", amounts},
            {"allocatable", amounts},
            {"addresses", Json::array({{{"type", "InternalIP"}, {"address", "127.0.0.1"}},
                                       {{"type", "Hostname"}, {"address", node.name}}})},
            {"conditions", Conditions(FormatRfc3339(now))},
            {"nodeInfo", NodeInfo(version)}}}};
}

// Server and node are one program, so they have one version.
std::string VersionOf(ApiCalls& api) {
  const Json version = Json::parse(api.Get("/version").value_or(""), nullptr, false);
  return Text(version, "gitVersion");
}

absl::Status WriteNode(ApiCalls& api, const NodeCapacity& capacity, const std::string& version,
                       Clock::WallTime now) {
  const std::string path = std::string(kNodesPath) + "/" + capacity.name;
  const Json wanted = NodeObject(capacity, version, now);
  absl::StatusOr<std::string> reply = api.Get(path);
  if (absl::IsNotFound(reply.status())) reply = api.Post(kNodesPath, wanted.dump());
  RETURN_IF_ERROR(reply.status());
  Json node = Json::parse(*reply, nullptr, /*allow_exceptions=*/false);
  for (const char* map : {"labels", "annotations"}) {
    Json& own = node["metadata"][map];
    if (!own.is_object()) own = Json::object();
    for (const auto& [key, value] : wanted["metadata"][map].items()) {
      if (!own.contains(key)) own[key] = value;
    }
  }
  // Where status is a subresource the first write leaves it out.
  ASSIGN_OR_RETURN(const std::string written, api.Put(path, node.dump()));
  node = Json::parse(written, nullptr, /*allow_exceptions=*/false);
  node["status"] = wanted["status"];
  return api.Put(path + "/status", node.dump()).status();
}

}  // namespace

absl::Status WriteNodeObjects(ApiCalls& api, const std::vector<NodeCapacity>& nodes,
                              Clock::WallTime now) {
  const std::string version = VersionOf(api);
  for (const NodeCapacity& node : nodes) RETURN_IF_ERROR(WriteNode(api, node, version, now));
  ASSIGN_OR_RETURN(const std::string text, api.Get(kNodesPath));
  const Json list = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  for (const Json& node : Elements(list, "items")) {
    const Json& meta = Member(node, "metadata");
    const std::string name = Text(meta, "name");
    const bool kept = std::any_of(nodes.begin(), nodes.end(),
                                  [&](const NodeCapacity& n) { return n.name == name; });
    if (kept || !Member(meta, "annotations").contains(kOurs)) continue;
    RETURN_IF_ERROR(api.Delete(std::string(kNodesPath) + "/" + name, "").status());
  }
  return absl::OkStatus();
}

}  // namespace taas::localkube
