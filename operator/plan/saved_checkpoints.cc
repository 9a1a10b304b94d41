#include "operator/plan/saved_checkpoints.h"

#include <algorithm>
#include <utility>

namespace taas {
namespace {

// Of a list in any order; what is beyond is not looked at.
constexpr size_t kSeenMax = 1'000;
// No name of the contract, and no time, is as long.
constexpr size_t kTextBytesMax = 40;

std::string Bounded(std::string_view text) {
  return text.size() <= kTextBytesMax ? std::string(text) : std::string();
}

}  // namespace

void CheckpointReader::Enter(int depth, bool list) {
  if (depth == 2) in_list_ = list && page_key_ == "checkpoints";
  if (depth != 3 || !in_list_) return;
  one_ = {};
  has_step_ = false;
  key_.clear();
}

void CheckpointReader::Leave(int depth) {
  if (depth == 3 && in_list_ && has_step_ && seen_.size() < kSeenMax) seen_.push_back(one_);
  if (depth == 2) in_list_ = false;
}

void CheckpointReader::Key(int depth, std::string_view name) {
  if (depth == 1) page_key_ = Bounded(name);
  if (depth == 3 && in_list_) key_ = Bounded(name);
}

void CheckpointReader::Number(int depth, int64_t count) {
  if (depth != 3 || !in_list_) return;
  if (key_ == "step") one_.step = count, has_step_ = true;
  if (key_ == "bytes") one_.bytes = count;
}

void CheckpointReader::Text(int depth, std::string_view value) {
  if (depth != 3 || !in_list_ || key_ != "savedAt") return;
  Clock::WallTime time;
  one_.saved_at.reset();
  if (ParseRfc3339(Bounded(value), &time)) one_.saved_at = time;
}

std::vector<SavedCheckpoint> CheckpointReader::Take() {
  std::vector<SavedCheckpoint> out = std::exchange(seen_, {});
  std::stable_sort(out.begin(), out.end(), [](const SavedCheckpoint& a, const SavedCheckpoint& b) {
    return a.step > b.step;
  });
  const auto same = [](const SavedCheckpoint& a, const SavedCheckpoint& b) {
    return a.step == b.step;
  };
  out.erase(std::unique(out.begin(), out.end(), same), out.end());
  if (out.size() > kCheckpointsMax) out.resize(kCheckpointsMax);
  return out;
}

}  // namespace taas
