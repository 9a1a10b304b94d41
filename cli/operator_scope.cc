#include "cli/operator_scope.h"

#include <optional>

#include "operator/api/json_field.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

constexpr char kDeploymentsPath[] = "/apis/apps/v1/deployments";
constexpr std::string_view kFlag = "--namespaces";

// What follows the flag in `arguments`, as "--namespaces=a,b" or as two; nothing: it is not there.
std::optional<std::string> FlagIn(const Json& arguments) {
  if (!arguments.is_array()) return std::nullopt;
  bool next = false;
  for (const Json& argument : arguments) {
    if (!argument.is_string()) continue;
    const std::string& text = argument.get_ref<const std::string&>();
    if (next) return text;
    next = text == kFlag;
    const bool joined = text.size() > kFlag.size() && text[kFlag.size()] == '=';
    if (text.starts_with(kFlag) && joined) return text.substr(kFlag.size() + 1);
  }
  return std::nullopt;
}

void AddListed(std::string_view list, std::set<std::string>* out) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string_view name = list.substr(0, comma);
    if (!name.empty()) out->emplace(name);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
}

}  // namespace

void OperatorScope::Add(std::string_view json) {
  const absl::StatusOr<Json> deployment = ParseJsonObject(json);
  const auto at = Json::json_pointer("/spec/template/spec/containers");
  if (!deployment.ok() || !deployment->contains(at) || !deployment->at(at).is_array()) return;
  known_ = true;
  bool limited = false;
  for (const Json& container : deployment->at(at)) {
    if (!container.is_object()) continue;
    for (const char* key : {"command", "args"}) {
      if (!container.contains(key)) continue;
      const std::optional<std::string> list = FlagIn(container[key]);
      if (!list.has_value()) continue;
      limited = true;
      AddListed(*list, &namespaces_);
    }
  }
  everywhere_ = everywhere_ || !limited;
}

std::string OperatorScope::WhyNotIn(const std::string& ns) const {
  if (!known_ || everywhere_ || namespaces_.count(ns) > 0) return "";
  std::string list;
  for (const std::string& name : namespaces_) list += (list.empty() ? "" : ", ") + name;
  return "the operator works in " + list + ", not in " + ns;
}

OperatorScope ScopeOfOperators(ApiClient& api) {
  OperatorScope scope;
  api.List(kDeploymentsPath, kOperatorLabel, "list Deployments of operators",
           [&scope](std::string_view json) {
             scope.Add(json);
             return absl::OkStatus();
           })
      .IgnoreError();
  return scope;
}

}  // namespace taas
