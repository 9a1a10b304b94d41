// What `taas local ci` says about a job at its end: one JSON object.
//
// Ownership: values. Threads: any. Errors: none.
//
//   std::puts(ReportJson({.job = job, .seconds = 12.5}).c_str());

#ifndef CLI_LOCAL_CI_REPORT_H_
#define CLI_LOCAL_CI_REPORT_H_

#include <string>

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

}  // namespace taas

#endif  // CLI_LOCAL_CI_REPORT_H_
