// Copies of jobs' event files on the dashboard's disk, and answers from them.
//
//   DIR/1/./events.out.tfevents.…    job by job, under numbers of the shelf's own
//
// A cache: the folder is emptied at the start and at the end, and what was not asked for longest
// goes when there is too much. Runs that have been read stay in memory for the last few jobs only.
//
// Ownership: owns what is in the folder. Threads: one at a time. Errors: of the disk, naming the
// path.
//
//   EventShelf shelf({.dir = "/tmp/events"});
//   for (const EventShelf::Part& part : shelf.Missing(uid, listed)) …
//   RETURN_IF_ERROR(shelf.Append(uid, part.path, part.from, bytes));
//   const Answer answer = shelf.Ask(uid, "/data/runs", {});

#ifndef DASHBOARD_TRAINING_EVENT_SHELF_H_
#define DASHBOARD_TRAINING_EVENT_SHELF_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "dashboard/events/answer.h"
#include "dashboard/events/run_set.h"
#include "dashboard/training/event_list.h"
#include "operator/base/file_system.h"

namespace taas::dashboard {

class EventShelf {
 public:
  struct Options {
    std::string dir;
    // Of all jobs together: ten trainings of an ordinary size.
    uint64_t bytes_max = uint64_t{1} << 30;
    // Of one job: what is behind that is not read.
    uint64_t job_bytes_max = uint64_t{256} << 20;
    // Jobs of which anything is known.
    size_t jobs_max = 1'000;
    // Jobs whose runs stay in memory, and the memory of each: a person looks at one or two.
    size_t open_max = 4;
    uint64_t memory_max = uint64_t{64} << 20;
  };
  struct Part {
    std::string path;  // RUN/FILE
    uint64_t from = 0;
    uint64_t to = 0;
  };
  struct Kept {
    size_t runs = 0;
    size_t files = 0;
    uint64_t bytes = 0;
    std::vector<RunProblem> problems;
  };

  EventShelf(FileSystem& files, Options options);
  ~EventShelf();

  // From now on the job's files are those of a directory of somebody else's, without those that
  // name another job than `name` ("default/mnist").
  void ReadInPlace(const std::string& uid, const std::string& dir,
                   const std::string& name = "");
  // What of `listed` is not here yet, up to the most that is kept of a job. Files that are not
  // listed any more are removed if `complete`; one that has become shorter begins again.
  std::vector<Part> Missing(const std::string& uid, const std::vector<EventFileEntry>& listed,
                            bool complete);
  // FailedPrecondition: the file does not end at `from`.
  absl::Status Append(const std::string& uid, const std::string& path, uint64_t from,
                      std::string_view bytes);
  // Of curves as `/series` has them; asked for inside of the dashboard only.
  static constexpr std::string_view kCurvesPath = "/data/curves";

  // The answer of TensorBoard's routes and of ours, after reading what has come.
  Answer Ask(const std::string& uid, std::string_view path, QueryPairs query);
  Kept About(const std::string& uid);

 private:
  struct Job {
    std::string dir;
    bool in_place = false;  // `dir` is not the shelf's.
    std::string name{};     // Of what is read in place, the job whose files count; "": all.
    std::map<std::string, uint64_t> sizes;  // By path.
    uint64_t last_asked = 0;                // Of `asked_`.
    std::unique_ptr<RunSet> runs;           // Null: not in memory now.
  };
  Job& JobOf(const std::string& uid);
  RunSet& Read(const std::string& uid);
  Kept Measure(const Job& job) const;
  void Drop(Job& job, const std::string& path);
  void MakeRoom(const std::string& uid, uint64_t bytes);
  // False: there is no other job.
  bool DropOldestBut(const std::string& uid, bool in_place_too);

  FileSystem& files_;
  const Options options_;
  std::map<std::string, Job> jobs_;
  uint64_t bytes_ = 0;
  uint64_t asked_ = 0;
  uint64_t last_number_ = 0;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_EVENT_SHELF_H_
