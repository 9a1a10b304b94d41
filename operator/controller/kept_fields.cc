#include "operator/controller/kept_fields.h"

#include <utility>

#include "operator/kube/json_slice.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;

std::string Join(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

// The paths of `sent` that `stored` has as well, and those that it lacks.
struct Comparison {
  std::set<std::string> kept;
  std::set<std::string> dropped;

  void Add(const json& sent, const json& stored, const std::string& path) {
    if (sent.is_object() && stored.is_object()) {
      for (const auto& [key, value] : sent.items()) {
        const std::string inner = Join(path, key);
        const auto found = stored.find(key);
        if (found == stored.end()) {
          dropped.insert(inner);
        } else {
          kept.insert(inner);
          Add(value, *found, inner);
        }
      }
    } else if (sent.is_array() && stored.is_array() && sent.size() == stored.size()) {
      for (size_t i = 0; i < sent.size(); ++i) Add(sent[i], stored[i], path + "[]");
    }
  }
};

void Drop(json& value, const std::set<std::string>& dropped, const std::string& path) {
  if (value.is_array()) {
    for (json& element : value) Drop(element, dropped, path + "[]");
    return;
  }
  if (!value.is_object()) return;
  for (auto item = value.begin(); item != value.end();) {
    const std::string inner = Join(path, item.key());
    if (dropped.count(inner) > 0) {
      item = value.erase(item);
    } else {
      Drop(*item, dropped, inner);
      ++item;
    }
  }
}

}  // namespace

void KeptFields::Learn(std::string_view sent, std::string_view stored) {
  const json wanted = json::parse(sent, nullptr, /*allow_exceptions=*/false);
  const auto status = FindMember(stored, "status");
  if (!wanted.is_object() || !status.ok()) return;
  const json kept = json::parse(status->value_or("{}"), nullptr, /*allow_exceptions=*/false);
  Comparison comparison;
  comparison.Add(wanted, kept, "");
  for (const std::string& path : comparison.kept) dropped_.erase(path);
  dropped_.merge(comparison.dropped);
}

std::string KeptFields::Of(std::string status) const {
  if (dropped_.empty()) return status;
  json value = json::parse(status, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) return status;
  Drop(value, dropped_, "");
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace taas
