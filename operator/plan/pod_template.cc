#include "operator/plan/pod_template.h"

#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;

// Null where there is nothing of the kind.
json SpecOf(const std::string& pod_template) {
  if (pod_template.empty()) return nullptr;
  const json object = json::parse(pod_template, nullptr, /*allow_exceptions=*/false);
  const auto spec = object.is_object() ? object.find("spec") : object.end();
  return object.is_object() && spec != object.end() ? *spec : json(nullptr);
}

}  // namespace

std::vector<ContainerPort> ContainerPorts(const RoleSpec& role) {
  const json spec = SpecOf(role.pod_template);
  const json containers = spec.is_object() ? spec.value("containers", json()) : json();
  const size_t index = static_cast<size_t>(role.container);
  if (role.container < 0 || !containers.is_array() || index >= containers.size()) return {};
  const json& container = containers[index];
  const json ports = container.is_object() ? container.value("ports", json()) : json();
  std::vector<ContainerPort> read;
  if (!ports.is_array()) return read;
  for (const json& port : ports) {
    if (!port.is_object()) continue;
    const json number = port.value("containerPort", json());
    const json name = port.value("name", json());
    if (!number.is_number_integer()) continue;
    read.push_back({name.is_string() ? name.get<std::string>() : "", number.get<int32_t>()});
  }
  return read;
}

std::string TemplateScheduler(const std::string& pod_template) {
  const json spec = SpecOf(pod_template);
  const json name = spec.is_object() ? spec.value("schedulerName", json()) : json();
  return name.is_string() ? name.get<std::string>() : "";
}

bool TemplateSaysRestartPolicy(const std::string& pod_template) {
  const json spec = SpecOf(pod_template);
  return spec.is_object() && spec.contains("restartPolicy");
}

}  // namespace taas
