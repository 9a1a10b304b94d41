// One job for a person who asks why it does not run.
//
// The first line is that sentence; what follows goes from the whole job to its replicas, what
// happened to them, and what was said about them.
//
// Ownership: values. Threads: any. Errors: none; what is not known is left out.
//
//   io.out << DescribeText({.job = job, .pods = pods, .events = events, .now = now});

#ifndef CLI_DESCRIBE_TEXT_H_
#define CLI_DESCRIBE_TEXT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/checkpoint_place.h"
#include "cli/seen_job.h"
#include "operator/api/job.h"
#include "operator/api/pod.h"
#include "operator/base/clock.h"

namespace taas {

// A core/v1 Event, as far as it is shown.
struct JobEvent {
  bool warning = false;
  std::string reason;
  std::string message;
  std::string object;  // "Pod/mnist-worker-0"; empty: the job itself.
  int64_t count = 1;
  std::optional<Clock::WallTime> time;  // The last time.
};
// Nothing: `json` is not an event about the job or about one of `uids`.
std::optional<JobEvent> ReadEvent(std::string_view json, const Job& job,
                                  const std::vector<std::string>& uids);

struct JobDescription {
  SeenJob job;
  std::vector<Pod> pods;
  std::vector<JobEvent> events;  // In any order.
  std::string no_operator{};  // Why none looks at it; empty: not known, or one does.
  std::optional<CheckpointPlace> checkpoints = std::nullopt;  // Of a job that keeps some.
  Clock::WallTime now{};
};
std::string DescribeText(const JobDescription& description);

}  // namespace taas

#endif  // CLI_DESCRIBE_TEXT_H_
