// The ledger of a job, as the text of the annotation `taas.dev/ledger` and as a struct.
//
// Only what differs from the beginning is written: a ledger is part of every list of jobs.
//
// Ownership: values. Threads: any. Errors: InvalidArgument naming the field. A ledger that cannot
// be read makes the whole job an error: to go on without it could run a completed replica again.
//
//   patch["metadata"]["annotations"][kLedgerAnnotation] = EncodeLedger(ledger);

#ifndef OPERATOR_API_LEDGER_CODEC_H_
#define OPERATOR_API_LEDGER_CODEC_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "operator/api/job.h"

namespace taas {

// DecodeLedger(EncodeLedger(x)) == x for every x, times included.
std::string EncodeLedger(const Ledger& ledger);
absl::StatusOr<Ledger> DecodeLedger(std::string_view json);

}  // namespace taas

#endif  // OPERATOR_API_LEDGER_CODEC_H_
