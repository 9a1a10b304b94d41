#include "operator/kube/log_container.h"

#include <algorithm>

#include "operator/api/dialect.h"
#include "third_party/json.h"

namespace taas {

std::vector<std::string> ContainerNames(std::string_view pod_json) {
  const auto pod = nlohmann::json::parse(pod_json, nullptr, /*allow_exceptions=*/false);
  const auto at = nlohmann::json::json_pointer("/spec/containers");
  if (!pod.is_object() || !pod.contains(at) || !pod.at(at).is_array()) return {};
  std::vector<std::string> names;
  for (const nlohmann::json& container : pod.at(at)) {
    const bool named = container.is_object() && container.contains("name") &&
                       container["name"].is_string();
    if (named) names.push_back(container["name"]);
  }
  return names;
}

std::string LogContainer(const std::vector<std::string>& names, JobKind kind) {
  const std::string_view wanted = DialectOf(kind).container;
  if (std::find(names.begin(), names.end(), wanted) != names.end()) return std::string(wanted);
  return names.empty() ? "" : names.front();
}

const InitContainer* LogInit(const Pod& pod) {
  const InitContainer* const init = pod.init.get();
  const bool speaks = init != nullptr && (init->running || init->exit_code.has_value() ||
                                          init->last_exit_code.has_value());
  return speaks ? init : nullptr;
}

std::string LogContainerOf(const Pod& pod, const std::vector<std::string>& names, JobKind kind) {
  const InitContainer* const init = LogInit(pod);
  return init != nullptr ? init->name : LogContainer(names, kind);
}

bool MayHaveLog(const Pod& pod) {
  return pod.phase != PodPhase::kPending || LogInit(pod) != nullptr;
}

}  // namespace taas
