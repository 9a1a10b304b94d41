#include "localkube/api/rules/resource_rules.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "localkube/api/kube_status.h"
#include "localkube/api/rules/field_errors.h"
#include "localkube/api/rules/names.h"
#include "operator/api/quantity.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

constexpr std::string_view kHugePages = "hugepages-";
constexpr const char* kOfContainers[] = {"cpu", "memory", "ephemeral-storage"};
// What else a name without a prefix may mean, in a quota.
constexpr const char* kOfOthers[] = {
    "pods", "services", "replicationcontrollers", "secrets", "configmaps", "resourcequotas",
    "persistentvolumeclaims", "storage", "requests.cpu", "requests.memory", "requests.storage",
    "requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage",
    "services.nodeports", "services.loadbalancers"};

template <size_t count>
bool IsOneOf(const std::string& name, const char* const (&names)[count]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::string Text(const json& quantity) {
  return quantity.is_string() ? quantity.get<std::string>()
                              : quantity.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string Quoted(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

const json& Member(const json& object, const char* name) {
  static const json kNone;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() ? kNone : *found;
}

bool IsHugePages(const std::string& name) { return name.starts_with(kHugePages); }

bool IsNative(const std::string& name) {
  return name.find('/') == std::string::npos || name.find("kubernetes.io/") != std::string::npos;
}

void CheckName(const std::string& name, const std::string& path, FieldErrors* errors) {
  const std::vector<std::string> flaws = QualifiedNameFlaws(name);
  for (const std::string& flaw : flaws) errors->Invalid(path, Quoted(name), flaw);
  if (name.find('/') != std::string::npos) {
    if (flaws.empty() || IsNative(name)) return;
    errors->Invalid(path, Quoted(name), "doesn't follow extended resource name standard");
    return;
  }
  const bool of_containers = IsOneOf(name, kOfContainers) || IsHugePages(name);
  if (!of_containers && !IsOneOf(name, kOfOthers)) {
    errors->Invalid(path, Quoted(name), "must be a standard resource type or fully qualified");
  }
  if (!of_containers) {
    errors->Invalid(path, Quoted(name), "must be a standard resource for containers");
  }
}

void CheckAmount(const std::string& name, const json& quantity, const std::string& path,
                 FieldErrors* errors) {
  const int64_t milli = SaturatedMilli(Text(quantity));
  if (milli < 0) {
    errors->Invalid(path, Quoted(Text(quantity)), "must be greater than or equal to 0");
  }
  // A device is there or it is not.
  const bool whole = milli % 1000 == 0 || milli == std::numeric_limits<int64_t>::max();
  if (!IsNative(name) && !whole) {
    errors->Invalid(path, Quoted(Text(quantity)), "must be an integer");
  }
}

void CheckRequest(const std::string& name, const json& request, const json& limits,
                  const std::string& path, FieldErrors* errors) {
  const bool overcommits = IsNative(name) && !IsHugePages(name);
  const json& limit = Member(limits, name.c_str());
  if (limit.is_null()) {
    if (!overcommits) {
      errors->Required(path + ".limits", "Limit must be set for non overcommitable resources");
    }
    return;
  }
  const int64_t wanted = SaturatedMilli(Text(request));
  const int64_t most = SaturatedMilli(Text(limit));
  if (wanted != most && !overcommits) {
    errors->Invalid(path + ".requests", Quoted(Text(request)),
                    "must be equal to " + name + " limit of " + Text(limit));
  } else if (wanted > most) {
    errors->Invalid(path + ".requests", Quoted(Text(request)),
                    "must be less than or equal to " + name + " limit of " + Text(limit));
  }
}

// Limits and requests of a container, whose quantities can be read. A limit without a request is
// the request, and what is wrong with it is wrong twice.
void CheckContainer(const json& resources, const std::string& path, FieldErrors* errors) {
  const json& limits = Member(resources, "limits");
  json requests = limits;
  for (const auto& [name, quantity] : Member(resources, "requests").items()) {
    requests[name] = quantity;
  }
  for (const auto& [name, quantity] : limits.items()) {
    const std::string place = path + ".limits[" + name + "]";
    CheckName(name, place, errors);
    CheckAmount(name, quantity, place, errors);
  }
  for (const auto& [name, quantity] : requests.items()) {
    const std::string place = path + ".requests[" + name + "]";
    CheckName(name, place, errors);
    CheckAmount(name, quantity, place, errors);
    CheckRequest(name, quantity, limits, path, errors);
  }
}

const json& List(const json& object, const char* name) {
  static const json kNone = json::array();
  const json& list = Member(object, name);
  return list.is_array() ? list : kNone;
}

// The quantities of one object, all of which must be readable.
class Quantities {
 public:
  explicit Quantities(const Kind& kind) : kind_(kind) {}

  void Take(const json& value) {
    if (!flaw_.empty() || value.is_null()) return;
    flaw_ = QuantityFlaw(Text(value));
  }
  void TakeAll(const json& list) {
    if (!list.is_object()) return;
    for (const json& value : list) Take(value);
  }
  void TakeResources(const json& owner) {
    const json& resources = Member(owner, "resources");
    for (const char* list : {"limits", "requests"}) TakeAll(Member(resources, list));
  }
  void TakePod(const json& spec) {
    for (const char* list : {"containers", "initContainers"}) {
      for (const json& container : List(spec, list)) {
        TakeResources(container);
        for (const json& variable : List(container, "env")) {
          Take(Member(Member(Member(variable, "valueFrom"), "resourceFieldRef"), "divisor"));
        }
      }
    }
    for (const json& volume : List(spec, "volumes")) {
      Take(Member(Member(volume, "emptyDir"), "sizeLimit"));
    }
    TakeAll(Member(spec, "overhead"));
  }

  absl::Status Check() const {
    if (flaw_.empty()) return absl::OkStatus();
    return BadRequest(kind_.kind + " in version \"v1\" cannot be handled as a " + kind_.kind +
                      ": " + std::string(flaw_));
  }

 private:
  const Kind& kind_;
  std::string_view flaw_;  // Of the first that cannot be read.
};

}  // namespace

absl::Status CheckResources(const Kind& kind, const json& object) {
  if (!kind.group.empty()) return absl::OkStatus();
  const json& spec = Member(object, "spec");
  Quantities quantities(kind);
  FieldErrors errors;
  if (kind.kind == "PersistentVolumeClaim") quantities.TakeResources(spec);
  if (kind.kind == "Node") {
    const json& status = Member(object, "status");
    for (const char* list : {"capacity", "allocatable"}) quantities.TakeAll(Member(status, list));
  }
  if (kind.kind == "Pod") quantities.TakePod(spec);
  RETURN_IF_ERROR(quantities.Check());
  if (kind.kind != "Pod") return absl::OkStatus();
  for (const char* list : {"containers", "initContainers"}) {
    const json& containers = List(spec, list);
    for (size_t i = 0; i < containers.size(); ++i) {
      const std::string place = "spec." + std::string(list) + "[" + std::to_string(i) + "]";
      CheckContainer(Member(containers[i], "resources"), place + ".resources", &errors);
    }
  }
  if (errors.empty()) return absl::OkStatus();
  return Invalid(kind, Text(Member(Member(object, "metadata"), "name")), std::move(errors).Take());
}

}  // namespace taas::localkube
