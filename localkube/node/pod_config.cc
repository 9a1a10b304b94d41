#include "localkube/node/pod_config.h"

#include "localkube/api/base64.h"
#include "localkube/node/pod_json.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;

const char* Lower(ConfigKind kind) {
  return kind == ConfigKind::kConfigMap ? "configmap" : "secret";
}

const char* Upper(ConfigKind kind) {
  return kind == ConfigKind::kConfigMap ? "ConfigMap" : "Secret";
}

void AddRef(ConfigKind kind, const Json& owner, const char* field, std::set<ConfigRef>* out) {
  const std::string name = Text(owner, field);
  if (!name.empty()) out->insert({kind, name});
}

void AddEnvironment(const Json& container, std::set<ConfigRef>* out) {
  for (const Json& entry : Elements(container, "env")) {
    const Json& from = Member(entry, "valueFrom");
    AddRef(ConfigKind::kConfigMap, Member(from, "configMapKeyRef"), "name", out);
    AddRef(ConfigKind::kSecret, Member(from, "secretKeyRef"), "name", out);
  }
  for (const Json& entry : Elements(container, "envFrom")) {
    AddRef(ConfigKind::kConfigMap, Member(entry, "configMapRef"), "name", out);
    AddRef(ConfigKind::kSecret, Member(entry, "secretRef"), "name", out);
  }
}

}  // namespace

void PodConfig::Add(const ConfigRef& ref, const Json& object) {
  if (!object.is_object()) return;
  ConfigData& data = objects_[ref];
  const bool encoded = ref.kind == ConfigKind::kSecret;
  const auto add = [&](const char* field, bool base64) {
    const Json& members = Member(object, field);
    if (!members.is_object()) return;
    for (const auto& [key, value] : members.items()) {
      if (!value.is_string()) continue;
      const std::string text = value.get<std::string>();
      data[key] = base64 ? DecodeBase64(text).value_or("") : text;
    }
  };
  add("data", encoded);
  add("binaryData", true);
}

absl::StatusOr<const ConfigData*> PodConfig::Find(const ConfigRef& ref, bool optional) const {
  const auto found = objects_.find(ref);
  if (found != objects_.end()) return &found->second;
  if (optional) return nullptr;
  return absl::FailedPreconditionError(std::string(Lower(ref.kind)) + " \"" + ref.name +
                                       "\" not found");
}

absl::StatusOr<std::optional<std::string>> PodConfig::Value(const ConfigRef& ref,
                                                            const std::string& key,
                                                            bool optional) const {
  ASSIGN_OR_RETURN(const ConfigData* data, Find(ref, optional));
  if (data == nullptr) return std::optional<std::string>();
  const auto found = data->find(key);
  if (found != data->end()) return std::optional<std::string>(found->second);
  if (optional) return std::optional<std::string>();
  return absl::FailedPreconditionError("couldn't find key " + key + " in " + Upper(ref.kind) +
                                       " " + ref.name);
}

std::set<ConfigRef> ConfigReferences(const Json& pod) {
  std::set<ConfigRef> out;
  const Json& spec = Member(pod, "spec");
  for (const char* list : {"initContainers", "containers"}) {
    for (const Json& container : Elements(spec, list)) AddEnvironment(container, &out);
  }
  for (const Json& volume : Elements(spec, "volumes")) {
    AddRef(ConfigKind::kConfigMap, Member(volume, "configMap"), "name", &out);
    AddRef(ConfigKind::kSecret, Member(volume, "secret"), "secretName", &out);
    for (const Json& source : Elements(Member(volume, "projected"), "sources")) {
      AddRef(ConfigKind::kConfigMap, Member(source, "configMap"), "name", &out);
      AddRef(ConfigKind::kSecret, Member(source, "secret"), "name", &out);
    }
  }
  return out;
}

}  // namespace taas::localkube
