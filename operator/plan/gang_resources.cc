#include "operator/plan/gang_resources.h"

#include <algorithm>
#include <map>

#include "operator/api/quantity.h"
#include "operator/plan/container_json.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using Amounts = std::map<std::string, int64_t>;  // Thousandths, by resource.

json Member(const json& object, const char* key) {
  return object.is_object() ? object.value(key, json()) : json();
}

// A sum that does not fit is no sum: the scheduler would be told less than is needed.
void Add(Amounts& sum, const Amounts& more, int64_t times) {
  for (const auto& [name, amount] : more) {
    int64_t product = 0;
    int64_t& total = sum[name];
    if (__builtin_mul_overflow(amount, times, &product) ||
        __builtin_add_overflow(total, product, &total)) {
      total = INT64_MAX;
    }
  }
}

Amounts OfContainer(const json& container) {
  Amounts amounts;
  const json resources = Member(container, "resources");
  for (const char* list : {"limits", "requests"}) {  // The latter win.
    const json named = Member(resources, list);
    if (!named.is_object()) continue;
    for (const auto& [name, value] : named.items()) {
      const auto amount =
          QuantityMilli(value.is_string() ? value.get<std::string>() : value.dump());
      if (amount.has_value()) amounts[name] = *amount;
    }
  }
  return amounts;
}

Amounts OfPod(const PodSpec& pod) {
  json pod_template = json::object();
  if (!pod.user.pod_template.empty()) pod_template = json::parse(pod.user.pod_template);
  json spec = Member(pod_template, "spec");
  json containers = Member(spec, "containers");
  if (!containers.is_array()) containers = json::array();
  const size_t index = static_cast<size_t>(pod.user.container);
  const bool has_main = pod.user.container >= 0 && index < containers.size();
  if (!has_main) containers.push_back(json::object());
  CompleteContainer(pod, {}, has_main ? containers[index] : containers.back());
  Amounts sum;
  for (const json& container : containers) Add(sum, OfContainer(container), 1);
  Amounts first;
  for (const json& container : Member(spec, "initContainers")) {
    const Amounts amounts = OfContainer(container);
    if (Member(container, "restartPolicy") == "Always") {
      Add(sum, amounts, 1);
      continue;
    }
    for (const auto& [name, amount] : amounts) first[name] = std::max(first[name], amount);
  }
  for (const auto& [name, amount] : first) sum[name] = std::max(sum[name], amount);
  return sum;
}

}  // namespace

std::string GangResources(const std::vector<std::pair<PodSpec, int32_t>>& pods) {
  Amounts sum;
  for (const auto& [pod, count] : pods) {
    try {
      Add(sum, OfPod(pod), count);
    } catch (const json::exception&) {
      continue;
    }
  }
  json resources = json::object();
  for (const auto& [name, amount] : sum) {
    if (amount > 0) resources[name] = MilliQuantity(amount);
  }
  return resources.empty() ? "" : resources.dump();
}

}  // namespace taas
