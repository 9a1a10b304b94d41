#include "operator/plan/memory_limit.h"

#include <string_view>
#include <utility>

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

struct Limit {
  std::string quantity;
  bool in_template = false;
};

Limit LimitOf(const RoleSpec& spec) {
  static const json::json_pointer kLimit("/limits/memory");
  // The template wins, as in the pod.
  if (spec.container >= 0) {
    const std::string index = std::to_string(spec.container);
    const json::json_pointer resources("/spec/containers/" + index + "/resources");
    std::string quantity = QuantityOf(At(Parsed(spec.pod_template), resources / kLimit));
    if (!quantity.empty()) return {.quantity = std::move(quantity), .in_template = true};
  }
  return {.quantity = QuantityOf(At(Parsed(spec.resources), kLimit))};
}

}  // namespace

std::string MemoryLimitOf(const Job& job, Role role) {
  const auto found = job.spec.roles.find(role);
  return found == job.spec.roles.end() ? "" : LimitOf(found->second).quantity;
}

std::string HowToRaiseMemory(const Job& job, Role role) {
  const auto found = job.spec.roles.find(role);
  if (found == job.spec.roles.end()) return "";
  const Limit limit = LimitOf(found->second);
  if (limit.quantity.empty()) return "";
  std::string path = TemplatePathOf(job, role);
  if (limit.in_template) {
    path += ".spec.containers[" + std::to_string(found->second.container) + "]";
  } else {
    constexpr std::string_view kTemplate = ".template";
    path.resize(path.size() - kTemplate.size());
  }
  return ": limit " + limit.quantity + ": raise " + path + ".resources.limits.memory";
}

}  // namespace taas
