#include "operator/controller/merge_patch.h"

#include "operator/api/job.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;

json Whole(const json& before, const json& after) {
  json patch = json::object();
  for (const auto& [key, value] : before.items()) {
    if (!after.contains(key)) patch[key] = nullptr;
  }
  for (const auto& [key, value] : after.items()) {
    const auto old = before.find(key);
    const bool both_objects = old != before.end() && old->is_object() && value.is_object();
    patch[key] = both_objects ? Whole(*old, value) : value;
  }
  return patch;
}

json Object(std::string_view text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_object() ? value : json::object();
}

}  // namespace

std::string StatusPatch(std::string_view before, std::string_view after,
                        const std::string& resource_version) {
  const json body = {{"metadata", {{"resourceVersion", resource_version}}},
                     {"status", Whole(Object(before), Object(after))}};
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string PodGroupPatch(std::string_view before, std::string_view after, const std::string& uid,
                          const std::string& resource_version) {
  const json annotations = {{std::string(kPodGroupSpecAnnotation), std::string(after)}};
  const json body = {{"metadata",
                      {{"uid", uid},
                       {"resourceVersion", resource_version},
                       {"annotations", annotations}}},
                     {"spec", Whole(Object(before), Object(after))}};
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace taas
