// The checkpoints of a job, as the /status of its chief lists them (docs/contract.md).
//
// Whoever wrote it is not trusted: counts are whole numbers from 0 to 2^53, a time that is none is
// not known, and of a long list so many are kept.
//
// Pure. Ownership: values. Threads: any. Errors: none; what is no checkpoint is left out.
//
//   CheckpointReader reader;  // Is fed by whoever reads the page.
//   const std::vector<SavedCheckpoint> newest_first = reader.Take();

#ifndef OPERATOR_PLAN_SAVED_CHECKPOINTS_H_
#define OPERATOR_PLAN_SAVED_CHECKPOINTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/clock.h"

namespace taas {

struct SavedCheckpoint {
  int64_t step = 0;
  int64_t bytes = 0;  // 0: not known.
  std::optional<Clock::WallTime> saved_at;

  bool operator==(const SavedCheckpoint&) const = default;
};

// Takes `checkpoints` of a page as a parser meets them. `depth` is that of the object or list which
// is entered, left, or has the value: 1 for the page.
class CheckpointReader {
 public:
  // Our trainer lists no more.
  static constexpr size_t kCheckpointsMax = 10;

  void Enter(int depth, bool list);
  void Leave(int depth);
  void Key(int depth, std::string_view name);
  void Number(int depth, int64_t count);
  void Text(int depth, std::string_view value);

  // Once: those of the highest steps, the highest first, and of a step the first that was told.
  std::vector<SavedCheckpoint> Take();

 private:
  std::vector<SavedCheckpoint> seen_;
  SavedCheckpoint one_;
  bool has_step_ = false;
  bool in_list_ = false;
  std::string page_key_, key_;  // The last ones; what no name of ours is is "".
};

}  // namespace taas

#endif  // OPERATOR_PLAN_SAVED_CHECKPOINTS_H_
