// The event files of a training, for readers that do not see its disk: the dashboard's histograms.
//
//   /events                             {"files":[{"run":".","file":"events.out…","bytes":812}]}
//   /events/data?file=RUN/FILE&from=N   the bytes from N on, at most kBytesMax of them
//
// A run is a directory, named as TensorBoard names it: "." for the top, and one level below it.
// Files only grow, so that a reader that asks on at the end of what it has gets the rest. Links are
// not followed and only regular files are read: who may write to the volume is not thereby to read
// what this process may.
//
// Ownership: value. Threads: any; the calls wait for the disk. Errors: InvalidArgument for a query
// that is none, else those of operator/base/directory.h.
//
//   EventPages pages("/out/logs");
//   ASSIGN_OR_RETURN(const std::string body, pages.Data("file=./events.out.tfevents.1&from=0"));

#ifndef TRAINER_SUMMARY_EVENT_PAGES_H_
#define TRAINER_SUMMARY_EVENT_PAGES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace taas {

class EventPages {
 public:
  // Readers take a page of 1 MiB, and a slow link a page of this size within their time.
  static constexpr size_t kBytesMax = 512 << 10;
  // A directory that holds more is no training's; the newest names are listed.
  static constexpr size_t kFilesMax = 200;
  // Names that are looked at in one directory, which is an error if it has more.
  static constexpr size_t kNamesMax = 100'000;

  // `dir` "": there are no files. Files of other jobs than `job` are not listed; "": all are.
  explicit EventPages(std::string dir, std::string job = "")
      : dir_(std::move(dir)), job_(std::move(job)) {}

  absl::StatusOr<std::string> List() const;
  absl::StatusOr<std::string> Data(const std::string& query) const;

 private:
  const std::string dir_;
  const std::string job_;
};

}  // namespace taas

#endif  // TRAINER_SUMMARY_EVENT_PAGES_H_
