#include "localkube/node/pod_fields.h"

#include "localkube/node/pod_json.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

// Each node's address, and each pod's.
constexpr char kLoopback[] = "127.0.0.1";

// "metadata.labels['key']": the key; empty for another map.
std::string MapKey(const std::string& path, const std::string& map) {
  const std::string begin = map + "['";
  if (path.rfind(begin, 0) != 0 || path.size() < begin.size() + 2) return "";
  return path.substr(begin.size(), path.size() - begin.size() - 2);
}

std::string Lines(const Json& map) {
  std::string out;
  if (!map.is_object()) return out;
  for (const auto& [key, value] : map.items()) {
    out += (out.empty() ? "" : "\n") + key + "=" +
           value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return out;
}

}  // namespace

absl::StatusOr<std::string> PodField(const Json& pod, const std::string& path) {
  const Json& meta = Member(pod, "metadata");
  const Json& spec = Member(pod, "spec");
  if (path == "metadata.name") return Text(meta, "name");
  if (path == "metadata.namespace") return Text(meta, "namespace");
  if (path == "metadata.uid") return Text(meta, "uid");
  if (path == "spec.nodeName") return Text(spec, "nodeName");
  if (path == "spec.serviceAccountName") return Text(spec, "serviceAccountName");
  for (const char* address : {"status.podIP", "status.hostIP", "status.podIPs", "status.hostIPs"}) {
    if (path == address) return std::string(kLoopback);
  }
  for (const char* map : {"labels", "annotations"}) {
    const std::string whole = std::string("metadata.") + map;
    if (path == whole) return Lines(Member(meta, map));
    const std::string key = MapKey(path, whole);
    if (!key.empty()) return Text(Member(meta, map), key.c_str());
  }
  return absl::InvalidArgumentError("fieldRef " + path + ": no such field");
}

absl::StatusOr<std::string> ResourceField(const Json& pod, const Json& container, const Json& ref,
                                          const Resources& node) {
  const Json* of = &container;
  const std::string name = Text(ref, "containerName");
  for (const char* list : {"containers", "initContainers"}) {
    for (const Json& other : Elements(Member(pod, "spec"), list)) {
      if (!name.empty() && Text(other, "name") == name) of = &other;
    }
  }
  const std::string resource = Text(ref, "resource");
  const size_t dot = resource.find('.');
  const std::string list = resource.substr(0, dot);
  const std::string what = dot == std::string::npos ? "" : resource.substr(dot + 1);
  const bool known =
      (list == "limits" || list == "requests") && (what == "cpu" || what == "memory");
  if (!known) {
    return absl::InvalidArgumentError("resourceFieldRef " + resource +
                                      ": the local cluster knows limits and requests of cpu and "
                                      "memory");
  }
  int64_t milli = AmountMilli(Member(Member(*of, "resources"), list.c_str()), what.c_str());
  if (milli == 0 && list == "limits") {
    milli = what == "cpu" ? node.cpu_milli : node.memory_bytes * 1000;
  }
  const int64_t divisor = AmountMilli(ref, "divisor");
  const int64_t unit = divisor > 0 ? divisor : 1000;
  // Rounded up, as in Kubernetes.
  return std::to_string(milli / unit + (milli % unit > 0 ? 1 : 0));
}

}  // namespace taas::localkube
