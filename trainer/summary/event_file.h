// A directory of TensorBoard's event files: one writer adds a file of its own, anybody reads them
// back.
//
// A file begins with the version, then the mark of a start, by which TensorBoard drops what an
// earlier life of the process wrote for later steps. Its name is later than that of every file that
// is there, since TensorBoard does not look at an older one again. A record reaches the file by one
// write; after a failed one the file is left alone, because a half record would hide all that
// follow. Its name ends with the job that writes, "...0.of_default_mnist", so that readers can tell
// the files of two jobs that share a directory.
//
// Ownership: owns the open file, borrows the FileSystem. Threads: one at a time. Errors: the
// FileSystem's, naming the path; after one the writer is of no more use.
//
//   ASSIGN_OR_RETURN(auto writer, EventWriter::Open(files, clock, "/out"));
//   RETURN_IF_ERROR(writer->Start(wall, 100));
//   RETURN_IF_ERROR(writer->Write(wall, 100, summary));

#ifndef TRAINER_SUMMARY_EVENT_FILE_H_
#define TRAINER_SUMMARY_EVENT_FILE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "trainer/summary/event.pb.h"

namespace taas {

class EventWriter {
 public:
  // Makes the directory if there is none. `job`: "default/mnist"; "": the file does not tell.
  static absl::StatusOr<std::unique_ptr<EventWriter>> Open(FileSystem& files, const Clock& clock,
                                                           const std::string& dir,
                                                           const std::string& job = "");

  const std::string& path() const { return path_; }
  // What stands at `step` and later in this directory is of a life that was given up.
  absl::Status Start(Clock::WallTime wall, int64_t step);
  absl::Status Write(Clock::WallTime wall, int64_t step, summary::Summary summary);
  // Any other event, at its step; it gets the time.
  absl::Status Add(Clock::WallTime wall, summary::Event event);

 private:
  EventWriter(std::string path, std::unique_ptr<WritableFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  absl::Status Append(const summary::Event& event);

  const std::string path_;
  std::unique_ptr<WritableFile> file_;
};

// Of a name without its directory.
bool IsEventFile(const std::string& name);
// "default/mnist"; "" where the name does not tell.
std::string JobOfEventFile(const std::string& name);
// Whether it is known to be of another job than `job`; of "" none is.
bool IsOfAnotherJob(const std::string& name, const std::string& job);
// Of such files in `dir`, each job once.
std::vector<std::string> OtherJobsIn(FileSystem& files, const std::string& dir,
                                     const std::string& job);

// Of the file at `path`, as below.
absl::Status ReadEventFile(FileSystem& files, const std::string& path, uint64_t size_max,
                           const std::function<void(const summary::Event&)>& each);

// Calls `each` with every event of the directory's files, without those of another job than `job`,
// in the order in which TensorBoard reads them. Events of more than `size_max` bytes (those with
// histograms) are passed over; what follows a damaged record of a file too. A directory that is not
// there has none.
absl::Status ReadEvents(FileSystem& files, const std::string& dir, uint64_t size_max,
                        const std::function<void(const summary::Event&)>& each,
                        const std::string& job = "");

}  // namespace taas

#endif  // TRAINER_SUMMARY_EVENT_FILE_H_
