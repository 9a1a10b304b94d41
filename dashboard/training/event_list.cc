#include "dashboard/training/event_list.h"

#include <algorithm>

#include "operator/api/json_field.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

constexpr size_t kNameMax = 255;  // Of a disk's.

bool IsPlain(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kNameMax && name != ".." &&
         std::all_of(name.begin(), name.end(), plain);
}

bool IsEventFile(std::string_view name) {
  return IsPlain(name) && name.find("tfevents") != std::string_view::npos;
}

}  // namespace

absl::StatusOr<std::vector<EventFileEntry>> ReadEventList(std::string_view body) {
  ASSIGN_OR_RETURN(const nlohmann::json page, ParseJsonObject(body));
  const auto found = page.find("files");
  if (found == page.end() || !found->is_array()) {
    return absl::InvalidArgumentError("/events: there is no list `files` in the answer");
  }
  std::vector<EventFileEntry> files;
  for (const nlohmann::json& entry : *found) {
    if (files.size() >= kEventFilesMax) break;
    if (!entry.is_object() || !entry.contains("run") || !entry.contains("file") ||
        !entry.contains("bytes") || !entry["run"].is_string() || !entry["file"].is_string() ||
        !entry["bytes"].is_number_unsigned()) {
      continue;
    }
    EventFileEntry file{.run = entry["run"].get<std::string>(),
                        .file = entry["file"].get<std::string>(),
                        .bytes = entry["bytes"].get<uint64_t>()};
    if (IsPlain(file.run) && IsEventFile(file.file)) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace taas::dashboard
