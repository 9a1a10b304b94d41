// One line of a watch: what happened, and the raw JSON of the object it happened to.
//
// Ownership: `object` points into the line. Threads: any. Errors: InvalidArgument for a line that
// is no watch event; an unknown type is an event of type kUnknown, which callers skip.
//
//   ASSIGN_OR_RETURN(const WatchEvent event, DecodeWatchLine(line));
//   if (event.type == WatchType::kDeleted) …

#ifndef OPERATOR_KUBE_WATCH_DECODER_H_
#define OPERATOR_KUBE_WATCH_DECODER_H_

#include <string_view>

#include "absl/status/statusor.h"

namespace taas {

enum class WatchType { kAdded, kModified, kDeleted, kBookmark, kError, kUnknown };

struct WatchEvent {
  WatchType type = WatchType::kUnknown;
  std::string_view object;
};

absl::StatusOr<WatchEvent> DecodeWatchLine(std::string_view line);

}  // namespace taas

#endif  // OPERATOR_KUBE_WATCH_DECODER_H_
