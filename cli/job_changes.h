// What changed about a job and how far it is, as lines for whoever watches it.
//
// Ownership: values. Threads: any. Errors: none.
//
//   for (const std::string& line : ChangeLines(before.status, job.status)) Print(line);

#ifndef CLI_JOB_CHANGES_H_
#define CLI_JOB_CHANGES_H_

#include <string>
#include <vector>

#include "operator/api/job.h"

namespace taas {

// What a reader of a log wants to know about this change: state, readiness, message, restarts.
std::vector<std::string> ChangeLines(const JobStatus& before, const JobStatus& after);

// "step 1200/2000 (60 %), loss 0.21, 20150 examples/s, 4 s left"; empty where nothing is known.
std::string ProgressLine(const JobStatus& status);

// A bar of 30 characters for terminals, with ProgressLine behind it.
std::string ProgressBar(const JobStatus& status);

}  // namespace taas

#endif  // CLI_JOB_CHANGES_H_
