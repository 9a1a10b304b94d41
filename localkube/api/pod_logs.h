// GET pods/NAME/log: which container, which lines, and the stream of a log that is followed.
//
// Ownership: the source outlives the streams. Threads: any. Errors: metav1.Status errors; 400 if
// the
// container cannot be told or has not started.
//
//   ASSIGN_OR_RETURN(ApiResponse reply, PodLog(source, clock, pod, route));

#ifndef LOCALKUBE_API_POD_LOGS_H_
#define LOCALKUBE_API_POD_LOGS_H_

#include <nlohmann/json_fwd.hpp>

#include "absl/status/statusor.h"
#include "localkube/api/api_stream.h"
#include "localkube/api/log_source.h"
#include "localkube/api/route.h"
#include "operator/base/clock.h"

namespace taas::localkube {

// A log that is not followed is answered in one piece of at most this; rotation keeps logs far
// smaller.
inline constexpr size_t kLogBytesMax = 64 << 20;
inline constexpr size_t kLogReadBytes = 256 << 10;
// Of one that is followed: the next piece comes when the client has taken this one, so that a
// client gets a log of any size at its own pace.
inline constexpr size_t kLogPieceBytes = 1 << 20;
// Short enough to look immediate, long enough to cost nothing.
inline constexpr std::chrono::milliseconds kLogPollInterval{50};

absl::StatusOr<ApiResponse> PodLog(LogSource* source, const Clock& clock,
                                   const nlohmann::json& pod, const Route& route);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_POD_LOGS_H_
