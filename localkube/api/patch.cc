#include "localkube/api/patch.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "localkube/api/rules/json_patch.h"
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

// Equal values have equal texts: what a list of thousands is searched by.
std::string IndexText(const json& value) {
  return value.is_number() ? std::to_string(value.get<double>())
                           : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::set<std::string> IndexTexts(const json& list) {
  std::set<std::string> texts;
  for (const json& item : list) texts.insert(IndexText(item));
  return texts;
}

// The text of an element's merge key; empty: it has none.
std::string KeyText(const json& item, const std::string& key) {
  return item.is_object() && item.contains(key) ? IndexText(item[key]) : "";
}

bool IsDirective(const json& item, const char* directive) {
  return item.is_object() && item.value("$patch", "") == directive;
}

absl::Status CheckKeyedItems(const json& patch, const std::string& field,
                             const std::string& key) {
  for (const json& item : patch) {
    if (!item.is_object()) {
      return absl::InvalidArgumentError("strategic merge patch: an element of " + field +
                                        " is not an object");
    }
    if (!item.contains(key)) {
      return absl::InvalidArgumentError("strategic merge patch: an element of " + field +
                                        " has no merge key " + key);
    }
  }
  return absl::OkStatus();
}

// As Kubernetes: first what is deleted goes, then the rest is merged.
absl::Status MergeKeyedList(json* target, const json& patch, const std::string& field,
                            const std::string& key) {
  RETURN_IF_ERROR(CheckKeyedItems(patch, field, key));
  auto& items = target->get_ref<json::array_t&>();
  std::set<std::string> deleted;
  for (const json& item : patch) {
    if (IsDirective(item, "delete")) deleted.insert(KeyText(item, key));
  }
  if (!deleted.empty()) {
    std::erase_if(items,
                  [&](const json& item) { return deleted.count(KeyText(item, key)) > 0; });
  }
  std::map<std::string, size_t> places;  // Of the first with each key.
  for (size_t i = 0; i < items.size(); ++i) places.emplace(KeyText(items[i], key), i);
  for (const json& item : patch) {
    if (IsDirective(item, "delete")) continue;
    const auto [place, fresh] = places.emplace(KeyText(item, key), items.size());
    if (fresh) items.push_back(json::object());
    RETURN_IF_ERROR(MergeObject(&items[place->second], item));
  }
  return absl::OkStatus();
}

bool ReplacesWholeList(const json& patch) {
  return std::any_of(patch.begin(), patch.end(),
                     [](const json& item) { return IsDirective(item, "replace"); });
}

absl::Status MergeList(json* target, const json& patch, const std::string& field) {
  const std::string key = MergeKey(field, patch);
  if (field == "finalizers") {  // A set of strings.
    if (!target->is_array()) *target = json::array();
    std::set<std::string> known = IndexTexts(*target);
    for (const json& item : patch) {
      if (known.insert(IndexText(item)).second) target->push_back(item);
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
      if (!IsDirective(item, "replace")) target->push_back(item);
    }
    return absl::OkStatus();
  }
  return MergeKeyedList(target, patch, field, key);
}

// Elements named by the order come in that order, the others stay behind them.
void Reorder(json* list, const json& order, const std::string& field) {
  if (!list->is_array() || !order.is_array()) return;
  const std::string key = MergeKey(field, *list);
  const auto text = [&](const json& item) {
    return item.is_object() && !key.empty() ? KeyText(item, key) : IndexText(item);
  };
  std::map<std::string, size_t> ranks;
  for (size_t i = 0; i < order.size(); ++i) ranks.emplace(text(order[i]), i);
  std::vector<std::pair<size_t, json>> ranked;
  for (json& item : *list) {
    const auto found = ranks.find(text(item));
    ranked.emplace_back(found == ranks.end() ? order.size() : found->second, std::move(item));
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  list->clear();
  for (auto& [rank, item] : ranked) list->push_back(std::move(item));
}

void Directive(json* target, const std::string& name, const json& value) {
  if (name == "$retainKeys" && value.is_array()) {
    const std::set<std::string> kept = IndexTexts(value);
    for (auto it = target->begin(); it != target->end();) {
      it = kept.count(IndexText(json(it.key()))) > 0 ? std::next(it) : target->erase(it);
    }
  } else if (StartsWith(name, kDeletePrefix) && value.is_array()) {
    const auto list = target->find(name.substr(sizeof kDeletePrefix - 1));
    if (list == target->end() || !list->is_array()) return;
    const std::set<std::string> deleted = IndexTexts(value);
    std::erase_if(list->get_ref<json::array_t&>(),
                  [&](const json& item) { return deleted.count(IndexText(item)) > 0; });
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
