// Jobs as a table for people.
//
// Ownership: values. Threads: any. Errors: none.
//
//   out << FormatJobTable(jobs, clock.WallNow(), /*with_namespace=*/false);

#ifndef CLI_JOB_TABLE_H_
#define CLI_JOB_TABLE_H_

#include <string>
#include <vector>

#include "operator/api/job.h"
#include "operator/base/clock.h"

namespace taas {

// NAME STATE READY STEP PROGRESS RESTARTS AGE, one line each; the header first.
std::string FormatJobTable(const std::vector<Job>& jobs, Clock::WallTime now, bool with_namespace);

// "7s", "5m", "3h", "12d": the largest unit of which there are at least two, as kubectl rounds.
std::string FormatAge(std::chrono::seconds age);

}  // namespace taas

#endif  // CLI_JOB_TABLE_H_
