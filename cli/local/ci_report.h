// What `taas local ci` says about a job: lines while it runs, one JSON object at its end.
//
// Ownership: values. Threads: any. Errors: none.
//
//   for (const std::string& line : ChangeLines(before.status, job.status)) Print(line);
//   std::puts(ReportJson({.job = job, .seconds = 12.5}).c_str());

#ifndef CLI_LOCAL_CI_REPORT_H_
#define CLI_LOCAL_CI_REPORT_H_

#include <string>
#include <vector>

#include "operator/api/job.h"

namespace taas {

struct CiOutcome {
  Job job;
  double seconds = 0;   // From the manifest to the end.
  std::string state;    // Empty: the job's own. "Rejected", "TimedOut", "Interrupted" come from us.
  std::string message;  // Empty: the job's own.
};

// {"state", "steps", "seconds", "accuracy", "loss", "examplesPerSecond", "restarts", "replicas",
// "dataSource", "message"}: always all of them, null where nothing is known.
std::string ReportJson(const CiOutcome& outcome);

// What a reader of a log wants to know about this change: state, readiness, message, restarts.
std::vector<std::string> ChangeLines(const JobStatus& before, const JobStatus& after);

// "step 1200/2000 (60 %), loss 0.21, 20150 examples/s, 4 s left"; empty where nothing is known.
std::string ProgressLine(const JobStatus& status);

// A bar of 30 characters for terminals, with ProgressLine behind it.
std::string ProgressBar(const JobStatus& status);

}  // namespace taas

#endif  // CLI_LOCAL_CI_REPORT_H_
