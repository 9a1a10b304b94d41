#include "dashboard/training/event_list.h"

#include <algorithm>

#include "operator/api/json_field.h"
#include "operator/base/plain_name.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

bool IsEventFile(std::string_view name) {
  return IsPlainName(name) && name.find("tfevents") != std::string_view::npos;
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
    if (IsPlainName(file.run) && IsEventFile(file.file)) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace taas::dashboard
