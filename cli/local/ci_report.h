// What `taas local ci` says about a job at its end: one JSON object.
//
// Ownership: values. Threads: any. Errors: none.
//
//   std::puts(ReportJson({.job = job, .seconds = 12.5}).c_str());

#ifndef CLI_LOCAL_CI_REPORT_H_
#define CLI_LOCAL_CI_REPORT_H_

#include <optional>
#include <string>

#include "cli/checkpoint_place.h"
#include "operator/api/job.h"

namespace taas {

struct CiOutcome {
  Job job;
  double seconds = 0;   // From the manifest to the end.
  std::string state;    // Empty: the job's own. "Rejected", "TimedOut", "Interrupted" come from us.
  std::string message;  // Empty: the job's own.
  // With the newest, in a folder that stays.
  std::optional<CheckpointPlace> checkpoint = std::nullopt;
};

// {"state", "steps", "seconds", "accuracy", "loss", "examplesPerSecond", "restarts", "replicas",
// "dataSource", "checkpoint": {"step", "folder", "bytes"}, "message"}: always all of them, null
// where nothing is known.
std::string ReportJson(const CiOutcome& outcome);

}  // namespace taas

#endif  // CLI_LOCAL_CI_REPORT_H_
