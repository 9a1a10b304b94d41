// All runs below a directory, as TensorBoard finds and names them: each directory with a file
// *tfevents* in it is a run, named by its path from the top, "." for the top itself.
//
// A refresh looks for new directories and reads what has come; between refreshes the set answers
// from memory. A run whose directory is gone is dropped; one whose disk does not answer is kept.
//
// Ownership: owns the runs. Threads: one at a time; the const methods from any thread while nobody
// refreshes. Errors: in `Problems`; a top that is not there yet is a set without runs.
//
//   RunSet runs("/out/events", {.follow_links = false});
//   while (!runs.Refresh(kSlice)) Yield();
//   const Run* run = runs.Find("train");

#ifndef DASHBOARD_EVENTS_RUN_SET_H_
#define DASHBOARD_EVENTS_RUN_SET_H_

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dashboard/events/run_reader.h"

namespace taas::dashboard {

// A directory of results may be the root of a whole disk; a walk of it is bounded in each way.
inline constexpr size_t kRunsMax = 2'000;
inline constexpr int kDepthMax = 32;
inline constexpr size_t kEntriesMax = 500'000;
inline constexpr size_t kWalkProblemsMax = 100;

struct RunSetOptions {
  // Where everybody who writes below the top may read what the reader may: on one's own machine.
  bool follow_links = false;
  // For points; a histogram of 30 bins takes 0.8 KB, one of 200 bins 3.3 KB.
  uint64_t memory_max = uint64_t{1} << 30;
  // "default/mnist": files that name another are passed over; "": all are read.
  std::string job{};
};

// False of a name that ends with another job, as the bundled trainer writes them
// ("events.out.tfevents.1.host.7.0.of_default_mnist"), and of what is no event file.
bool IsEventFileOf(const std::string& job, const std::string& name);

struct RunProblem {
  std::string run;
  Problem problem;
};

class RunSet {
 public:
  static constexpr uint64_t kAllBytes = std::numeric_limits<uint64_t>::max();

  explicit RunSet(std::string top, RunSetOptions options = {})
      : top_(std::move(top)), options_(std::move(options)), memory_{.most = options_.memory_max} {}
  RunSet(const RunSet&) = delete;
  RunSet& operator=(const RunSet&) = delete;

  // Reads about `most` bytes at most; false: there is more to read now.
  bool Refresh(uint64_t most = kAllBytes);

  using Readers = std::map<std::string, std::unique_ptr<RunReader>, std::less<>>;
  const Readers& readers() const { return readers_; }
  // Null if there is no such run.
  const Run* Find(std::string_view name) const;
  // Names, in order of the runs' first events; runs without any come last.
  std::vector<std::string> NamesByStart() const;
  std::vector<RunProblem> Problems() const;

 private:
  struct Walk;
  void Note(const std::string& run, std::string what);
  void GiveUp(const std::string& name, std::string why, Walk* walk);
  void VisitTop(Walk* walk);
  void Visit(const Directory& directory, const std::string& name, Walk* walk);
  void VisitSubdirectory(const Directory& parent, const std::string& entry,
                         const std::string& name, Walk* walk);
  void RefreshRun(const Directory& directory, const std::vector<std::string>& names,
                  const std::string& name, Walk* walk);

  const std::string top_;
  const RunSetOptions options_;
  MemoryBudget memory_;
  ReadBuffer buffer_;
  Readers readers_;
  std::vector<RunProblem> problems_;  // Of the last walk, the first ones.
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_EVENTS_RUN_SET_H_
