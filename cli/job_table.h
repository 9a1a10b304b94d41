// Jobs as a table for people.
//
// Ownership: values. Threads: any. Errors: none.
//
//   out << FormatJobTable(jobs, clock.WallNow(), {.with_namespace = true});

#ifndef CLI_JOB_TABLE_H_
#define CLI_JOB_TABLE_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/seen_job.h"
#include "operator/base/clock.h"

namespace taas {

struct JobTableOptions {
  bool with_namespace = false;
  bool wide = false;  // Also KIND, REPLICAS, GPUS and MESSAGE.
  bool headers = true;
};

// NAME STATE READY STEP PROGRESS RESTARTS AGE, one line each; the header first.
std::string FormatJobTable(const std::vector<SeenJob>& jobs, Clock::WallTime now,
                           const JobTableOptions& options);

// "7s", "5m", "3h", "12d": the largest unit of which there are at least two, as kubectl rounds.
std::string FormatAge(std::chrono::seconds age);
// Since `then`; "-" where that is not known.
std::string FormatSince(const std::optional<Clock::WallTime>& then, Clock::WallTime now);

// No operator has ever written it.
bool WasNeverSeen(const JobStatus& status);

// Why the job makes no progress, or that it does: "mnist is pending: …". `no_operator`: why none
// looks at it (operator_scope.h), if that is known.
std::string WhySentence(const SeenJob& job, const std::string& no_operator = "");

}  // namespace taas

#endif  // CLI_JOB_TABLE_H_
