// Job objects of both kinds, as JSON and as the one struct that the operator knows.
//
// Decoding is lenient about unknown fields, because a newer API server may have stored them, and
// strict about types: an object that the schema would refuse is an error, never a guess. Values
// that are absent get the schema's defaults. A status that cannot be read is as good as none: it is
// only what was said, and no job must be out of everybody's control for it.
//
// Ownership: values. Threads: any. Errors: InvalidArgument naming the field.
//
//   ASSIGN_OR_RETURN(const Job job, DecodeJob(JobKind::kTfJob, text));
//   object["status"] = EncodeStatus(job, status);
//   patch["metadata"]["annotations"][kLedgerAnnotation] = EncodeLedger(ledger);

#ifndef OPERATOR_API_JOB_CODEC_H_
#define OPERATOR_API_JOB_CODEC_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "operator/api/job.h"
#include "operator/api/ledger_codec.h"
#include "operator/api/status_codec.h"

namespace taas {

absl::StatusOr<Job> DecodeJob(JobKind kind, std::string_view json);

}  // namespace taas

#endif  // OPERATOR_API_JOB_CODEC_H_
