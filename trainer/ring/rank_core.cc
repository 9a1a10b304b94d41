#include "trainer/ring/rank_core.h"

#include <algorithm>
#include <cstddef>

#include "operator/base/check.h"
#include "operator/base/status.h"

namespace taas {

void RankCore::Begin(const Standing& standing) {
  CHECK(want_ == RankWant::kModel) << "a rank that has a model begins with another";
  standing_ = standing;
  // A chief that comes anew after all was trained and saved needs nobody: others may have ended.
  want_ = standing.step >= max_steps_ ? RankWant::kOutlast : RankWant::kEpoch;
}

void RankCore::Join(const std::optional<Epoch>& epoch) {
  CHECK(want_ == RankWant::kEpoch) << "a rank that awaits no epoch joins one";
  if (!epoch) {
    want_ = RankWant::kNothing;
    return;
  }
  epoch_ = *epoch;
  lost_.reset();
  const bool begins = epoch_.start.step == kUntrained && standing_.step == kNoModel;
  const bool is_elsewhere = receives() ? standing_.step > epoch_.start.step
                                       : !begins && standing_ != epoch_.start;
  if (is_elsewhere) return;
  want_ = RankWant::kEnter;
}

bool RankCore::receives() const {
  return std::ranges::find(epoch_.receivers, epoch_.rank) != epoch_.receivers.end();
}

void RankCore::NotEntered(std::optional<int> lost) {
  lost_ = lost;
  want_ = standing_.step == kNoModel ? RankWant::kModel : RankWant::kEpoch;
}

void RankCore::Entered() {
  CHECK(want_ == RankWant::kEnter) << "an epoch that was not joined is entered";
  standing_ = epoch_.start;
  batches_ = UntrainedBatches(standing_.committed);
  want_ = NextOfEpoch();
}

absl::StatusOr<RankCore::Turn> RankCore::Take() {
  CHECK(want_ == RankWant::kStep) << "a step in no epoch";
  for (int i = 0; i < epoch_.ranks(); ++i) {
    RETURN_IF_ERROR(batches_.Next().status());
  }
  return Turn{standing_.step + 1, batches_.taken()[static_cast<size_t>(epoch_.rank)]};
}

void RankCore::Made() {
  batches_.Commit(batches_.taken().size());
  standing_ = {standing_.step + 1, batches_.committed(), epoch_.number};
  want_ = NextOfEpoch();
}

void RankCore::NotMade(std::optional<int> lost) {
  batches_.Return(batches_.taken().size());
  lost_ = lost;
  want_ = RankWant::kEpoch;
}

void RankCore::Outlasted() { want_ = RankWant::kEpoch; }

}  // namespace taas
