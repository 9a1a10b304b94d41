// Reads: one object, a list, a watch; as objects or as a table.
//
// Ownership: store and clock outlive it and the streams it makes. Threads: any. Errors:
// metav1.Status errors:
// 404, 410 for a revision that is compacted, 504 for one that is still to come.
//
//   ASSIGN_OR_RETURN(std::string body, ListObjects(store, clock, kind, "default", options));

#ifndef LOCALKUBE_API_LIST_WATCH_H_
#define LOCALKUBE_API_LIST_WATCH_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "localkube/api/api_stream.h"
#include "localkube/api/rest.h"
#include "localkube/api/route.h"
#include "localkube/api/selectors.h"
#include "localkube/api/store.h"
#include "localkube/api/tables.h"

namespace taas::localkube {

struct ReadOptions {
  bool table = false;
  IncludeObject include = IncludeObject::kMetadata;
  Selector selector;
  std::string resource_version;
  std::string resource_version_match;
  size_t limit = 0;
  std::string continue_token;
  // Of a watch:
  bool bookmarks = false;
  std::string send_initial_events;  // "", "true", "false"
  std::chrono::seconds timeout{0};  // 0: kWatchTimeout.
};

// A watch that nobody bounds ends after this, so that forgotten ones do not stay for ever.
inline constexpr std::chrono::minutes kWatchTimeout{45};
// Often enough that a watch of a quiet kind resumes before the history has moved past it.
inline constexpr std::chrono::seconds kBookmarkInterval{15};

// From ?labelSelector=… and so on, and the Accept header.
absl::StatusOr<ReadOptions> ParseReadOptions(const Route& route, const std::string& accept);

absl::StatusOr<std::string> GetObject(const Rest& rest, const Clock& clock, const Target& target,
                                      const ReadOptions& options);
absl::StatusOr<std::string> ListObjects(const Store& store, const Clock& clock, const Kind& kind,
                                        const std::string& ns, const ReadOptions& options);
absl::StatusOr<std::unique_ptr<ApiStream>> WatchObjects(Store& store, const Clock& clock,
                                                        const Kind& kind, const std::string& ns,
                                                        const ReadOptions& options);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_LIST_WATCH_H_
