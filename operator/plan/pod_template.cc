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

std::string TemplateScheduler(const std::string& pod_template) {
  const json spec = SpecOf(pod_template);
  const json name = spec.is_object() ? spec.value("schedulerName", json()) : json();
  return name.is_string() ? name.get<std::string>() : "";
}

std::string TemplateImage(const std::string& pod_template, int32_t container) {
  const json spec = SpecOf(pod_template);
  const json containers = spec.is_object() ? spec.value("containers", json()) : json();
  if (!containers.is_array() || container < 0) return "";
  if (static_cast<size_t>(container) >= containers.size()) return "";
  const json& named = containers[static_cast<size_t>(container)];
  const json image = named.is_object() ? named.value("image", json()) : json();
  return image.is_string() ? image.get<std::string>() : "";
}

bool TemplateSaysRestartPolicy(const std::string& pod_template) {
  const json spec = SpecOf(pod_template);
  return spec.is_object() && spec.contains("restartPolicy");
}

}  // namespace taas
