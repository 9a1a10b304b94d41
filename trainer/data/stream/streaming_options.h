// How data is read that is larger than memory: `spec.trainer.data.streaming`.
//
//   {"shuffleBuffer": 10000, "readers": 2, "prefetch": 2}
//
// Ownership: a value. Threads: any. Errors: InvalidArgument naming the field.
//
//   ASSIGN_OR_RETURN(const StreamingOptions options, ParseStreaming(spec["streaming"]));

#ifndef TRAINER_DATA_STREAM_STREAMING_OPTIONS_H_
#define TRAINER_DATA_STREAM_STREAMING_OPTIONS_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "trainer/data/batch_plan.h"

namespace taas {

struct StreamingOptions {
  // Examples that are mixed with each other; in memory are twice so many.
  int64_t shuffle_buffer = 10'000;
  int64_t readers = 2;   // Threads that read blocks.
  int64_t prefetch = 2;  // Steps whose batches are made ahead; 0: none.

  // A window of so many places of the data: neighbours, often of one class, are one example in so
  // many, and what is read in one piece is still large.
  static constexpr int64_t kBlocksPerWindow = 64;

  BatchPlan::Blocks blocks() const {
    const int64_t examples = (shuffle_buffer + kBlocksPerWindow - 1) / kBlocksPerWindow;
    return {.examples = examples, .per_window = std::max<int64_t>(1, shuffle_buffer / examples)};
  }
};

absl::StatusOr<StreamingOptions> ParseStreaming(const nlohmann::json& spec);

}  // namespace taas

#endif  // TRAINER_DATA_STREAM_STREAMING_OPTIONS_H_
