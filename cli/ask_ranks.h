// What the time of an all-reduce's ranks goes to, asked of the job's chief while it runs: its
// /status page (docs/contract.md).
//
// On a cluster the page is reached through the API server (`get` of pods/proxy), since pods have
// addresses of their own; on the local cluster they are on this machine. The other end may be a
// program of the user's: what it says is checked (trainer_report.h).
//
// Ownership: borrows the client. Threads: one. Errors: what was asked, and the cause.
//
//   if (TrainsByAllReduce(found.json)) times = AskRanks(*api, found.job);

#ifndef CLI_ASK_RANKS_H_
#define CLI_ASK_RANKS_H_

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "cli/api_client.h"
#include "operator/api/job.h"
#include "operator/plan/rank_times.h"

namespace taas {

// `json`: a job, as the server has it.
bool TrainsByAllReduce(std::string_view json);

// Nothing: the replica that tells does not run, or has not told yet.
absl::StatusOr<std::optional<RankTimes>> AskRanks(ApiClient& api, const Job& job);

}  // namespace taas

#endif  // CLI_ASK_RANKS_H_
