#include "trainer/ring/rank_core.h"

#include <algorithm>
#include <cstddef>

#include "operator/base/check.h"
#include "operator/base/status.h"

namespace taas {

void RankCore::Begin(const Standing& standing) {
  CHECK(want_ == RankWant::kModel) << "a rank that has a model begins with another";
  standing_ = standing;
  want_ = RankWant::kEpoch;
}

void RankCore::Join(const std::optional<Epoch>& epoch) {
  CHECK(want_ == RankWant::kEpoch) << "a rank that awaits no epoch joins one";
  if (!epoch) {
    want_ = RankWant::kNothing;
    return;
  }
  epoch_ = *epoch;
  // What is given overwrites what is there.
  if (receives()) standing_ = {};
  want_ = RankWant::kEnter;
}

bool RankCore::receives() const {
  return std::ranges::find(epoch_.receivers, epoch_.rank) != epoch_.receivers.end();
}

void RankCore::Entered(bool entered) {
  CHECK(want_ == RankWant::kEnter) << "an epoch that was not joined is entered";
  if (!entered) {
    want_ = standing_.step == kNoModel ? RankWant::kModel : RankWant::kEpoch;
    return;
  }
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
  batches_.Commit();
  standing_ = {standing_.step + 1, batches_.committed()};
  want_ = NextOfEpoch();
}

void RankCore::NotMade() {
  batches_.Return();
  want_ = RankWant::kEpoch;
}

void RankCore::Outlasted() { want_ = RankWant::kEpoch; }

}  // namespace taas
