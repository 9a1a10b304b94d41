#include "operator/plan/template_mark.h"

#include <utility>

#include "operator/api/quantity.h"
#include "operator/base/hash.h"
#include "operator/plan/gang_resources.h"
#include "operator/plan/role_pod.h"
#include "third_party/json.h"

namespace taas {

using nlohmann::json;

TemplateMark MarkOf(const Snapshot& snapshot, Role role) {
  const Job& job = snapshot.job;
  PodSpec pod = RolePod(job, role, PodName(job.meta.name, role, 0),
                        {.image = snapshot.default_image,
                         .cuda_image = snapshot.cuda_image,
                         .gpu_resource = snapshot.gpu_resource});
  const uint64_t hash = StableHash(pod.user.pod_template);
  return {.hash = hash, .requests = GangResources({{std::move(pod), 1}})};
}

bool AsksForMore(const std::string& a, const std::string& b) {
  const auto parse = [](const std::string& text) {
    json list = json::parse(text, nullptr, /*allow_exceptions=*/false);
    return list.is_object() ? list : json::object();
  };
  const auto amount = [](const json& value) -> int64_t {
    return value.is_string() ? QuantityMilli(value.get<std::string>()).value_or(0) : 0;
  };
  const json wanted = parse(a);
  const json others = parse(b);
  for (const auto& [name, value] : wanted.items()) {
    if (amount(value) > amount(others.value(name, json()))) return true;
  }
  return false;
}

const TemplateMark* TemplateChange::MarkOfRole(Role role) {
  if (const auto known = marks_.find(role); known != marks_.end()) return &known->second;
  if (!snapshot_.job.spec.roles.contains(role)) return nullptr;
  ++reads_;
  return &marks_.emplace(role, MarkOf(snapshot_, role)).first->second;
}

bool TemplateChange::IsOld(const Pod& pod) {
  if (pod.template_hash == 0 || !pod.role.has_value()) return false;
  const TemplateMark* mark = MarkOfRole(*pod.role);
  return mark != nullptr && pod.template_hash != mark->hash;
}

int64_t TemplateChange::HoldsMore() {
  if (holds_more_.has_value()) return *holds_more_;
  std::map<std::pair<Role, std::string>, bool> more;  // Thousands of pods have few such texts.
  int64_t count = 0;
  for (const Pod& pod : snapshot_.pods) {
    if (pod.owner_uid != snapshot_.job.meta.uid || pod.requests.empty()) continue;
    // What is being deleted will be made anew.
    if (pod.node.empty() || HasEnded(pod) || pod.meta.deletion_time.has_value()) continue;
    if (!IsOld(pod)) continue;
    const auto [found, is_new] = more.try_emplace({*pod.role, pod.requests.str()});
    if (is_new) found->second = AsksForMore(pod.requests.str(), marks_.at(*pod.role).requests);
    count += found->second ? 1 : 0;
  }
  holds_more_ = count;
  return count;
}

}  // namespace taas
