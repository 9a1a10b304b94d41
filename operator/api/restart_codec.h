// What ledger and status both say of restarts: their number by cause, and the newest of them.
//
// Ownership: values. Threads: any. Errors: InvalidArgument naming the field. A cause of a later
// release is left out, since what is known still counts.
//
//   RETURN_IF_ERROR(ReadRestartCounts(root["restarts"], &ledger.restarts));

#ifndef OPERATOR_API_RESTART_CODEC_H_
#define OPERATOR_API_RESTART_CODEC_H_

#include <cstdint>
#include <map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "absl/status/status.h"
#include "operator/api/job.h"
#include "operator/api/json_field.h"

namespace taas {

absl::Status ReadRestartCounts(const JsonField& field, std::map<RestartCause, int32_t>* out);
absl::Status ReadRestartHistory(const JsonField& field, std::vector<RestartRecord>* out);

nlohmann::json EncodeRestartCounts(const std::map<RestartCause, int32_t>& restarts);
// `time` is of whole seconds.
nlohmann::json EncodeRestart(const RestartRecord& record);

}  // namespace taas

#endif  // OPERATOR_API_RESTART_CODEC_H_
