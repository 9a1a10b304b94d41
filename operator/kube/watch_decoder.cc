#include "operator/kube/watch_decoder.h"

#include <string>

#include "operator/base/status.h"
#include "operator/kube/json_slice.h"

namespace taas {

absl::StatusOr<WatchEvent> DecodeWatchLine(std::string_view line) {
  WatchEvent event;
  std::string_view type;
  RETURN_IF_ERROR(ForEachMember(line, [&](std::string_view key, std::string_view value) {
    if (key == "type") type = value;
    if (key == "object") event.object = value;
    return absl::OkStatus();
  }));
  if (type.empty() || event.object.empty()) {
    return absl::InvalidArgumentError("the line is no watch event: it has no type or no object");
  }
  static constexpr struct {
    std::string_view text;
    WatchType type;
  } kTypes[] = {{"\"ADDED\"", WatchType::kAdded},       {"\"MODIFIED\"", WatchType::kModified},
                {"\"DELETED\"", WatchType::kDeleted},   {"\"BOOKMARK\"", WatchType::kBookmark},
                {"\"ERROR\"", WatchType::kError}};
  for (const auto& known : kTypes) {
    if (known.text == type) event.type = known.type;
  }
  return event;
}

}  // namespace taas
