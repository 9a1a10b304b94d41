// The logs of a job's replicas on a terminal or in a file, merged.
//
// Ownership: the client outlives the calls; FollowJob stops its executor. Threads: one. Errors: as
// LogFollow; FollowJob is an error, too, when the job does not succeed.
//
//   RETURN_IF_ERROR(FollowJob(io, *api, found.job));

#ifndef CLI_LOGS_H_
#define CLI_LOGS_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "cli/api_client.h"
#include "cli/command.h"
#include "cli/log_follow.h"
#include "cli/seen_job.h"

namespace taas {

// "[worker-0] line", each replica in a colour of its own on a terminal.
class LinePrinter {
 public:
  explicit LinePrinter(const CommandIo& io) : io_(io) {}
  void Print(const std::string& replica, std::string_view line);

 private:
  const CommandIo& io_;
  std::map<std::string, size_t> colors_;
};

// Prints what is written until the job has ended. `options` names the job.
absl::Status FollowLogs(const CommandIo& io, ApiClient& api, LogFollow::Options options);

// Also tells changes of the job's state on io.err, and ends with the job's own result.
absl::Status FollowJob(const CommandIo& io, ApiClient& api, const SeenJob& job);

}  // namespace taas

#endif  // CLI_LOGS_H_
