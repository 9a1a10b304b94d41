// What event files hold: their tags, of which kind, over which steps, with which last value.
//
// Ownership: borrows the FileSystem, the facts are values. Threads: any. Errors: the FileSystem's;
// behind a damaged or unfinished record of a file nothing more of it is counted.
//
//   ASSIGN_OR_RETURN(const EventFacts facts, FactsOfEvents(files, {"events.out.tfevents.1.h"}));

#ifndef TRAINER_INSPECT_EVENT_FACTS_H_
#define TRAINER_INSPECT_EVENT_FACTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "operator/base/file_system.h"

namespace taas {

struct TagFacts {
  std::string kind;  // "scalar", "histogram", "graph", "start"; of other plugins their name.
  int64_t events = 0;
  int64_t first_step = 0;
  int64_t last_step = 0;
  double last_value = 0;  // Of scalars.
};

struct EventFacts {
  int64_t events = 0;
  std::map<std::string, TagFacts> tags;
};

absl::StatusOr<EventFacts> FactsOfEvents(FileSystem& files, const std::vector<std::string>& paths);

std::string TableOf(const EventFacts& facts);
nlohmann::json JsonOf(const EventFacts& facts);

}  // namespace taas

#endif  // TRAINER_INSPECT_EVENT_FACTS_H_
