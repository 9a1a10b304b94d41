// Of which pods of a job the last lines of the log are still to be fetched.
//
// When a pod is gone its log is gone, so it is asked for as soon as it ends, and once while it is
// being ended, in case its end is not seen.
//
// Pure. Ownership: values. Threads: one at a time. Errors: none.
//
//   const auto pods = tails.Pick(pods_of_job, /*all=*/false);
//   Fetch(pods, [&](const std::set<std::string>& names) { tails.Answered(pods, names); });

#ifndef DASHBOARD_HISTORY_HISTORY_TAILS_H_
#define DASHBOARD_HISTORY_HISTORY_TAILS_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dashboard/server/watched.h"

namespace taas::dashboard {

class HistoryTails {
 public:
  using Pods = std::vector<std::shared_ptr<const WatchedPod>>;

  // A node that is busy ending pods may not answer at first.
  static constexpr int kTries = 3;
  // Pods of a job whose log is kept, 4 MB at most: a failed one, or the first of its role, has a
  // place as long as there is any; the others only while there are few.
  static constexpr size_t kPodsMax = 64;
  static constexpr size_t kPodsWell = 32;

  // `all`: also those that run, since the job is no more. Those that are picked count as asked.
  Pods Pick(const Pods& pods, bool all);
  // What came of it, by names of pods.
  void Answered(const Pods& asked, const std::set<std::string>& got);

 private:
  struct Asked {
    bool early = false;   // While it had not ended.
    bool asking = false;  // The answer has not come.
    bool have = false;
    int tries = 0;        // Since it has ended.
  };
  std::map<std::string, Asked> asked_;  // By uid.
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_HISTORY_HISTORY_TAILS_H_
