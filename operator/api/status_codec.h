// `.status` of both kinds of job, as JSON and as a struct.
//
// What a TFJob's status has from the API that its users know (conditions in the order of history
// with lastUpdateTime, replicaStatuses by "PS" and "Worker" with a selector, lastReconcileTime)
// comes in that API's form; beside it stand the fields that both kinds share: state, ready,
// message, restarts, history, attempt, progress.
//
// Ownership: values. Threads: any. Errors: InvalidArgument naming the field.
//
//   if (EncodeStatus(job, job.status) == EncodeStatus(job, wanted)) return;

#ifndef OPERATOR_API_STATUS_CODEC_H_
#define OPERATOR_API_STATUS_CODEC_H_

#include <string>

#include "absl/status/status.h"
#include "operator/api/job.h"
#include "operator/api/json_field.h"

namespace taas {

absl::Status ReadStatus(JobKind kind, const JsonField& status, JobStatus* out);

// JSON of `.status`. Times have whole seconds there, numbers that are not finite are left out, and
// texts are cut at the schema's limits; two statuses are the same to a reader if their encodings
// are. It is the whole status, for a PUT: a merge patch would keep what has become absent (but for
// `message`, which is always there). Of `job` the kind, the name and the names of roles matter.
std::string EncodeStatus(const Job& job, const JobStatus& status);

}  // namespace taas

#endif  // OPERATOR_API_STATUS_CODEC_H_
