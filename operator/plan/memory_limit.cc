#include "operator/plan/memory_limit.h"

#include <string_view>

#include "nlohmann/json.hpp"
#include "operator/plan/template_words.h"

namespace taas {
namespace {

using nlohmann::json;

const json& At(const json& object, const json::json_pointer& path) {
  static const json kNull;
  return object.contains(path) ? object.at(path) : kNull;
}

std::string QuantityOf(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? value.dump() : "";
}

json Parsed(const std::string& text) {
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace

std::string HowToRaiseMemory(const Job& job, Role role) {
  static const json::json_pointer kLimit("/limits/memory");
  const auto found = job.spec.roles.find(role);
  if (found == job.spec.roles.end()) return "";
  const RoleSpec& spec = found->second;
  std::string path = TemplatePathOf(job, role);
  std::string limit;
  // The template wins, as in the pod.
  if (spec.container >= 0) {
    const std::string index = std::to_string(spec.container);
    const json::json_pointer resources("/spec/containers/" + index + "/resources");
    limit = QuantityOf(At(Parsed(spec.pod_template), resources / kLimit));
  }
  if (!limit.empty()) {
    path += ".spec.containers[" + std::to_string(spec.container) + "]";
  } else {
    limit = QuantityOf(At(Parsed(spec.resources), kLimit));
    constexpr std::string_view kTemplate = ".template";
    path.resize(path.size() - kTemplate.size());
  }
  if (limit.empty()) return "";
  return ": limit " + limit + ": raise " + path + ".resources.limits.memory";
}

}  // namespace taas
