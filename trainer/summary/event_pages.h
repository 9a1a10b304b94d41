// The event files of a training, for readers that do not see its disk: the dashboard's histograms.
//
//   /events                             {"files":[{"run":".","file":"events.out…","bytes":812}]}
//   /events/data?file=RUN/FILE&from=N   the bytes from N on, at most kBytesMax of them
//
// A run is a directory, named as TensorBoard names it: "." for the top, and one level below it.
// Files only grow, so that a reader that asks on at the end of what it has gets the rest.
//
// Ownership: borrows the file system. Threads: any. Errors: InvalidArgument for a query that
// is none, NotFound for a file that is not listed, else the FileSystem's.
//
//   EventPages pages(files, "/out/logs");
//   ASSIGN_OR_RETURN(const std::string body, pages.Data("file=./events.out.tfevents.1&from=0"));

#ifndef TRAINER_SUMMARY_EVENT_PAGES_H_
#define TRAINER_SUMMARY_EVENT_PAGES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"

namespace taas {

class EventPages {
 public:
  // Readers take a page of 1 MiB, and a slow link a page of this size within their time.
  static constexpr size_t kBytesMax = 512 << 10;
  // A directory that holds more is no training's; the newest names are listed.
  static constexpr size_t kFilesMax = 200;

  // `dir` "": there are no files.
  EventPages(FileSystem& files, std::string dir) : files_(files), dir_(std::move(dir)) {}

  absl::StatusOr<std::string> List() const;
  absl::StatusOr<std::string> Data(const std::string& query) const;

 private:
  std::vector<std::string> Runs() const;

  FileSystem& files_;
  const std::string dir_;
};

}  // namespace taas

#endif  // TRAINER_SUMMARY_EVENT_PAGES_H_
