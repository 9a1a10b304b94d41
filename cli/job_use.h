// What a job asks for, holds and uses, and what the time of its ranks goes to: `taas top job`.
//
// Pure. Ownership: values. Threads: any. Errors: none; what is not known is left out of the JSON
// and reads "-" in a table.
//
//   JobUse use = UseOf(job, pods);
//   io.out << JobUseTable({use}, /*with_namespace=*/false) << "\n" << RankTable(times);

#ifndef CLI_JOB_USE_H_
#define CLI_JOB_USE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/allocation.h"
#include "cli/seen_job.h"
#include "operator/plan/rank_times.h"

namespace taas {

// Held: by pods that have a node. Asked: by all that have not ended.
struct JobUse {
  SeenJob job;
  Amounts held;
  std::optional<Measured> used;
  int64_t gpus_asked = 0;
  int running = 0;
  int pods = 0;
};

// `pods`: also of other jobs.
JobUse UseOf(SeenJob job, const std::vector<PodUse>& pods);

// NAME KIND STATE PODS GPUS(ASKED) GPUS(HELD) CPU(HELD) …
std::string JobUseTable(const std::vector<JobUse>& jobs, bool with_namespace);

// REPLICA COMPUTE WAIT EXCHANGE HIDDEN SENT/STEP, and one sentence on who is slow.
std::string RankTable(const RankTimes& times);

// What is shown of one job besides: its pods, and what its ranks tell.
struct JobUseDetail {
  std::vector<PodUse> pods;
  std::optional<RankTimes> times;
};
// {"jobs": [{"namespace": …, "name": …, "gpus": {"asked": 2, "held": 2}, …}]}; with `detail`
// its one job has "replicas", and "ranks" and "slowest" where they are told.
std::string JobUseJson(const std::vector<JobUse>& jobs, const JobUseDetail* detail);

}  // namespace taas

#endif  // CLI_JOB_USE_H_
