// The list of event files that a replica serves at /events (docs/contract.md).
//
// The other end is a program of the user's: names that could lead anywhere but into a folder of the
// dashboard's, or that no event file has, are left out.
//
// Ownership: values. Threads: any. Errors: InvalidArgument: it is no such page.
//
//   ASSIGN_OR_RETURN(const std::vector<EventFileEntry> files, ReadEventList(body));

#ifndef DASHBOARD_TRAINING_EVENT_LIST_H_
#define DASHBOARD_TRAINING_EVENT_LIST_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taas::dashboard {

// More than a trainer lists; what comes behind them is not read.
inline constexpr size_t kEventFilesMax = 500;

struct EventFileEntry {
  std::string run;   // "." or the name of a folder.
  std::string file;  // "events.out.tfevents.1700000000.host"
  uint64_t bytes = 0;

  std::string path() const { return run + "/" + file; }
};

absl::StatusOr<std::vector<EventFileEntry>> ReadEventList(std::string_view body);

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_EVENT_LIST_H_
