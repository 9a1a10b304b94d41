// What a trainer says of itself: the answer of GET /status, and the termination message.
//
// Both are JSON objects of docs/contract.md with the same names; unknown fields are ignored,
// missing ones are unknown, and fields of a wrong type count as missing. Whoever wrote it is not
// trusted: counts are whole numbers from 0 to 2^53, texts have no control characters and an end,
// and reading takes no more memory than the text itself, whatever is in it.
//
// Ownership: values. Threads: any. Errors: ParseTrainerReport gives nothing for text that is not an
// object, or one that is nested more than kJsonDepthMax levels deep.
//
//   const auto report = ParseTrainerReport(reply.body);
//   if (report) status.progress = ProgressFromReport(*report, max_steps);

#ifndef OPERATOR_PLAN_TRAINER_REPORT_H_
#define OPERATOR_PLAN_TRAINER_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/job.h"
#include "operator/plan/gpu_sums.h"
#include "operator/plan/rank_times.h"
#include "operator/plan/saved_checkpoints.h"

namespace taas {

struct TrainerReport {
  std::string uid;      // Of the job; empty: not said.
  std::string state;    // "Training", "WaitingForPeers", …
  std::string message;  // Why there is no progress; in a termination message: why it ended.
  std::optional<int64_t> step;
  std::optional<int64_t> max_steps;
  std::optional<double> loss;
  std::optional<double> examples_per_second;
  std::optional<int64_t> eta_seconds;
  std::optional<Evaluation> evaluation;
  std::string data_source;
  GpuSums gpus;  // Its own and those of its peers.
  RankTimes rank_times;  // Of an all-reduce, likewise.
  std::vector<SavedCheckpoint> checkpoints;  // The newest, the newest first.

  bool operator==(const TrainerReport&) const = default;
};

// What the bundled trainer's termination message says where there is nothing else to say.
inline constexpr std::string_view kDone = "done";

std::optional<TrainerReport> ParseTrainerReport(std::string_view json);

// Newer facts of `report` over what `before` knew. `max_steps` is the manifest's; 0: unknown.
Progress MergeProgress(const std::optional<Progress>& before, const TrainerReport& report,
                       int64_t max_steps);

// The sentence in a termination message, JSON or plain: one line, as last_words.h has it.
std::string MessageOfTermination(std::string_view termination_message);

}  // namespace taas

#endif  // OPERATOR_PLAN_TRAINER_REPORT_H_
