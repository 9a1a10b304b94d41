// A job as far as this program can read it.
//
// A job with a field that cannot be read, such as a number out of range, or one of a later release,
// is there all the same: it is listed, waited for, suspended and deleted. What could be read of it
// is there, and the reason why the rest was not.
//
// Ownership: values. Threads: any. Errors: InvalidArgument for what has no metadata of an object.
//
//   ASSIGN_OR_RETURN(const SeenJob job, ReadSeenJob(JobKind::kTrainingJob, json));
//   if (!job.unreadable.ok()) Report(io, job.unreadable);

#ifndef CLI_SEEN_JOB_H_
#define CLI_SEEN_JOB_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/api/job.h"

namespace taas {

struct SeenJob : Job {
  SeenJob() = default;
  SeenJob(Job job) : Job(std::move(job)) {}

  absl::Status unreadable;   // Why not all could be read; else OK.
  bool spec_known = true;    // `spec` is what stands there.
  bool status_known = true;  // `status` is.

  bool HasEnded() const {
    return status_known &&
           (status.state == JobState::kSucceeded || status.state == JobState::kFailed);
  }
  // As in the table: "Running"; "Unreadable" where it is not known.
  std::string StateName() const {
    return status_known ? std::string(JobStateName(status.state)) : "Unreadable";
  }
};

absl::StatusOr<SeenJob> ReadSeenJob(JobKind kind, std::string_view json);

}  // namespace taas

#endif  // CLI_SEEN_JOB_H_
