#include "localkube/api/patch.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

constexpr char kOrderPrefix[] = "$setElementOrder/";
constexpr char kDeletePrefix[] = "$deleteFromPrimitiveList/";

// The key by which elements of a list of objects are told apart; empty: the list is replaced whole.
// From the patchMergeKey tags of k8s.io/api (core/v1 and meta/v1).
std::string MergeKey(const std::string& field, const json& patch) {
  static const auto* const kKeys = std::make_unique<std::map<std::string, std::string>>(
      std::map<std::string, std::string>{
          {"addresses", "type"},        {"conditions", "type"},     {"containers", "name"},
          {"env", "name"},              {"ephemeralContainers", "name"},
          {"hostAliases", "ip"},        {"imagePullSecrets", "name"},
          {"initContainers", "name"},   {"ownerReferences", "uid"}, {"podIPs", "ip"},
          {"secrets", "name"},          {"volumeDevices", "devicePath"},
          {"volumeMounts", "mountPath"}, {"volumes", "name"},
      }).release();
  if (field == "ports") {
    // A container's are keyed by containerPort, a service's by port.
    for (const json& item : patch) {
      if (item.is_object() && item.contains("containerPort")) return "containerPort";
    }
    return "port";
  }
  const auto found = kKeys->find(field);
  return found == kKeys->end() ? "" : found->second;
}

bool StartsWith(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

absl::Status MergeObject(json* target, const json& patch);

json::iterator FindByKey(json* list, const std::string& key, const json& value) {
  return std::find_if(list->begin(), list->end(), [&](const json& item) {
    return item.is_object() && item.contains(key) && item[key] == value;
  });
}

absl::Status MergeKeyedList(json* target, const json& patch, const std::string& field,
                            const std::string& key) {
  for (const json& item : patch) {
    if (!item.is_object()) {
      return absl::InvalidArgumentError("strategic merge patch: an element of " + field +
                                        " is not an object");
    }
    const std::string directive = item.value("$patch", "");
    if (directive == "replace") continue;  // Looked at by the caller.
    if (!item.contains(key)) {
      return absl::InvalidArgumentError("strategic merge patch: an element of " + field +
                                        " has no merge key " + key);
    }
    const auto found = FindByKey(target, key, item[key]);
    if (directive == "delete") {
      if (found != target->end()) target->erase(found);
    } else if (found != target->end()) {
      RETURN_IF_ERROR(MergeObject(&*found, item));
    } else {
      json fresh = json::object();
      RETURN_IF_ERROR(MergeObject(&fresh, item));
      target->push_back(std::move(fresh));
    }
  }
  return absl::OkStatus();
}

bool ReplacesWholeList(const json& patch) {
  return std::any_of(patch.begin(), patch.end(), [](const json& item) {
    return item.is_object() && item.value("$patch", "") == "replace";
  });
}

absl::Status MergeList(json* target, const json& patch, const std::string& field) {
  const std::string key = MergeKey(field, patch);
  if (field == "finalizers") {  // A set of strings.
    if (!target->is_array()) *target = json::array();
    for (const json& item : patch) {
      if (std::find(target->begin(), target->end(), item) == target->end()) {
        target->push_back(item);
      }
    }
    return absl::OkStatus();
  }
  if (key.empty()) {
    *target = patch;
    return absl::OkStatus();
  }
  if (!target->is_array()) *target = json::array();
  if (ReplacesWholeList(patch)) {
    *target = json::array();
    for (const json& item : patch) {
      if (item.value("$patch", "") != "replace") target->push_back(item);
    }
    return absl::OkStatus();
  }
  return MergeKeyedList(target, patch, field, key);
}

// Elements named by the order come in that order, the others stay behind them.
void Reorder(json* list, const json& order, const std::string& field) {
  if (!list->is_array() || !order.is_array()) return;
  const std::string key = MergeKey(field, *list);
  const auto rank = [&](const json& item) {
    for (size_t i = 0; i < order.size(); ++i) {
      const bool same = order[i].is_object()
                            ? !key.empty() && item.is_object() && item.contains(key) &&
                                  order[i].contains(key) && order[i][key] == item[key]
                            : order[i] == item;
      if (same) return i;
    }
    return order.size();
  };
  auto& items = list->get_ref<json::array_t&>();
  std::stable_sort(items.begin(), items.end(),
                   [&](const json& a, const json& b) { return rank(a) < rank(b); });
}

void Directive(json* target, const std::string& name, const json& value) {
  if (name == "$retainKeys" && value.is_array()) {
    for (auto it = target->begin(); it != target->end();) {
      const bool kept = std::find(value.begin(), value.end(), json(it.key())) != value.end();
      it = kept ? std::next(it) : target->erase(it);
    }
  } else if (StartsWith(name, kDeletePrefix) && value.is_array()) {
    const auto list = target->find(name.substr(sizeof kDeletePrefix - 1));
    if (list == target->end() || !list->is_array()) return;
    auto& items = list->get_ref<json::array_t&>();
    std::erase_if(items, [&](const json& item) {
      return std::find(value.begin(), value.end(), item) != value.end();
    });
  }
}

absl::Status MergeObject(json* target, const json& patch) {
  const std::string directive = patch.value("$patch", "");
  if (directive == "delete") {
    *target = nullptr;
    return absl::OkStatus();
  }
  if (directive == "replace" || !target->is_object()) *target = json::object();
  for (const auto& [name, value] : patch.items()) Directive(target, name, value);
  for (const auto& [name, value] : patch.items()) {
    if (name[0] == '$') continue;
    if (value.is_null()) {
      target->erase(name);
    } else if (value.is_object()) {
      json& member = (*target)[name];
      RETURN_IF_ERROR(MergeObject(&member, value));
      if (member.is_null()) target->erase(name);
    } else if (value.is_array()) {
      RETURN_IF_ERROR(MergeList(&(*target)[name], value, name));
    } else {
      (*target)[name] = value;
    }
  }
  for (const auto& [name, value] : patch.items()) {
    if (!StartsWith(name, kOrderPrefix)) continue;
    const std::string field = name.substr(sizeof kOrderPrefix - 1);
    if (target->contains(field)) Reorder(&(*target)[field], value, field);
  }
  return absl::OkStatus();
}

absl::StatusOr<json> ApplyJsonPatch(const json& object, const json& patch) {
  if (!patch.is_array()) {
    return absl::InvalidArgumentError("a JSON patch is a list of operations");
  }
  if (patch.size() > kJsonPatchOperationsMax) {
    return absl::InvalidArgumentError("the JSON patch has more than " +
                                      std::to_string(kJsonPatchOperationsMax) + " operations");
  }
  json changed = object;
  size_t copied = 0;
  for (const json& operation : patch) {
    if (operation.is_object() && operation.value("op", json()) == json("copy")) {
      const json::json_pointer from(operation.value("from", ""));
      copied += changed.at(from).dump(-1, ' ', false, json::error_handler_t::replace).size();
      if (copied > kJsonPatchCopyBytesMax) {
        return absl::InvalidArgumentError("the copy operations of the JSON patch copy more than " +
                                          std::to_string(kJsonPatchCopyBytesMax) + " bytes");
      }
    }
    changed.patch_inplace(json::array({operation}));
  }
  return changed;
}

}  // namespace

absl::StatusOr<json> ApplyPatch(PatchType type, const json& object, const json& patch) {
  try {
    if (type == PatchType::kJson) return ApplyJsonPatch(object, patch);
    if (!patch.is_object()) return absl::InvalidArgumentError("a merge patch is a JSON object");
    json changed = object;
    if (type == PatchType::kMerge) {
      changed.merge_patch(patch);
    } else {
      RETURN_IF_ERROR(MergeObject(&changed, patch));
    }
    return changed;
  } catch (const json::exception& error) {
    return absl::InvalidArgumentError(std::string("apply the patch: ") + error.what());
  }
}

}  // namespace taas::localkube
