// TrainingJob objects and the ledger, as JSON and as structs.
//
// Decoding is lenient about unknown fields, because a newer API server may have stored them, and
// strict about types: an object that the schema would refuse is an error, never a guess. Values
// that are absent get the schema's defaults.
//
// Ownership: values. Threads: any. Errors: InvalidArgument naming the field. A ledger that cannot
// be read makes the whole job an error: to go on without it could run a completed replica again.
//
//   ASSIGN_OR_RETURN(const Job job, DecodeTrainingJob(text));
//   patch["metadata"]["annotations"][kLedgerAnnotation] = EncodeLedger(ledger);

#ifndef OPERATOR_API_TRAINING_JOB_CODEC_H_
#define OPERATOR_API_TRAINING_JOB_CODEC_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "operator/api/job.h"

namespace taas {

absl::StatusOr<Job> DecodeTrainingJob(std::string_view json);

// JSON of `.status`. Times have whole seconds there, numbers that are not finite are left out, and
// texts are cut at the schema's limits; two statuses are the same to a reader if their encodings
// are. It is the whole status, for a PUT: a merge patch would keep what has become absent (but for
// `message`, which is always there).
std::string EncodeStatus(const JobStatus& status);

// The text of the annotation `taas.dev/ledger`. DecodeLedger(EncodeLedger(x)) == x for every x,
// times included.
std::string EncodeLedger(const Ledger& ledger);
absl::StatusOr<Ledger> DecodeLedger(std::string_view json);

}  // namespace taas

#endif  // OPERATOR_API_TRAINING_JOB_CODEC_H_
