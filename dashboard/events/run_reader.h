// The event files of one directory, read in order of name into one run, again and again.
//
// All files are followed, also when a later one has been begun: two programs may write into one
// directory (TensorBoard leaves the earlier file alone then, unless told --reload_multifile). When
// a file that was read is gone, cut short or replaced, the run is read anew from all that are
// there, so that what is shown always stands in files.
//
// Ownership: owns the run; borrows the memory budget. Threads: one at a time. Errors: in
// `Problems`, which are those of the files and of reaching them.
//
//   RunReader reader(&memory);
//   const bool done = reader.Refresh(directory, {"events.out.tfevents.1"}, &bytes_left, &buffer);
//   Draw(reader.run());

#ifndef DASHBOARD_EVENTS_RUN_READER_H_
#define DASHBOARD_EVENTS_RUN_READER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dashboard/events/event_file.h"
#include "dashboard/events/run.h"

namespace taas::dashboard {

class RunReader {
 public:
  explicit RunReader(MemoryBudget* memory)
      : memory_(*memory), run_(std::make_unique<Run>(memory)) {}

  // Reads what has come into the files of these names, which are sorted. Takes what it reads from
  // `bytes_left`; false: that ended before the files did.
  bool Refresh(const Directory& directory, const std::vector<std::string>& names,
               uint64_t* bytes_left, ReadBuffer* buffer);

  const Run& run() const { return *run_; }
  std::vector<Problem> Problems() const;

 private:
  enum class Outcome { kDone, kMore, kReplaced };
  Outcome ReadFiles(const Directory& directory, const std::vector<std::string>& names,
                    uint64_t* bytes_left, ReadBuffer* buffer);
  bool IsObsolete(const Directory& directory, const std::vector<std::string>& names) const;
  void StartAfresh();

  MemoryBudget& memory_;
  std::unique_ptr<Run> run_;
  std::map<std::string, EventFile> files_;
  std::vector<Problem> unreachable_;  // Of the last refresh.
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_EVENTS_RUN_READER_H_
