// Compares what all processes of a job have applied, record by record.
//
// A generation begins from a cut; what was made of an earlier one after that cut is struck out.
// What survives must be whole: every step on all shards, once, in order, of the same pushes; every
// batch once; none left out up to the end.
//
// Ownership: pure. Threads: any. Errors: FailedPrecondition with the first thing that is wrong.
//
//   RETURN_IF_ERROR(CheckLedgers(records_of_each_file, {.steps = 600, .aggregate = 2}));

#ifndef TRAINER_PS_LEDGER_CHECK_H_
#define TRAINER_PS_LEDGER_CHECK_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "trainer/ps/push_id.h"

namespace taas::ps {

struct LedgerRecord {
  enum class Kind { kBegin, kCommit };
  Kind kind = Kind::kCommit;
  int64_t generation = 0;
  int shard = 0;    // -1: the chief, which only says where generations begin.
  int shards = 0;   // kBegin.
  int64_t step = 0;  // kBegin: of the cut.
  std::vector<PushId> pushes;
};

struct LedgerExpectation {
  int64_t steps = 0;
  int aggregate = 1;  // Batches of each step.
};

// One vector per process start, in the order of its file.
absl::Status CheckLedgers(const std::vector<std::vector<LedgerRecord>>& processes,
                          const LedgerExpectation& expected);

}  // namespace taas::ps

#endif  // TRAINER_PS_LEDGER_CHECK_H_
