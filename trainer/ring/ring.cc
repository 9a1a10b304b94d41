#include "trainer/ring/ring.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "operator/base/status.h"
#include "trainer/collective/exchange.h"

namespace taas {

using collective::Group;

Ring::Ring(collective::Meeting& meeting, Session& session, int cores)
    : meeting_(meeting), session_(session), cores_(cores), core_(session.model()) {}

absl::Status Ring::Enter(const Epoch& epoch) {
  own_error_ = absl::OkStatus();
  {
    std::lock_guard lock(mutex_);
    group_ = nullptr;
    epoch_ = epoch.number;
  }
  core_.Enter(epoch);
  ASSIGN_OR_RETURN(auto links, meeting_.Meet({.epoch = epoch.number,
                                              .rank = epoch.rank,
                                              .addresses = epoch.addresses}));
  auto group = std::make_shared<Group>(Group::Options{
      .place = core_.place(), .links = std::move(links), .spins = ranks() <= cores_});
  {
    std::lock_guard lock(mutex_);
    if (epoch.number <= over_) return absl::AbortedError("enter an epoch: it is over");
    group_ = std::move(group);
  }
  return Exchange();
}

absl::Status Ring::BeginStep(int64_t step) { return core_.BeginStep(step); }

absl::StatusOr<float> Ring::Mean(float loss) {
  times_ = {};
  own_error_ = core_.BeginMean(loss);
  RETURN_IF_ERROR(own_error_);
  const absl::Status exchanged = Exchange();
  absl::StatusOr<float> mean = core_.EndMean(exchanged);
  if (mean.ok() && std::isfinite(*mean)) {
    if (absl::Status set = SetGradientRows(); !set.ok()) mean = std::move(set);
  }
  if (!mean.ok() && mean.status() != exchanged) own_error_ = mean.status();
  return mean;
}

// Whatever rows the others have looked up, they are among all.
absl::Status Ring::SetGradientRows() {
  for (size_t i = 0; i < session_.variables().size(); ++i) {
    if (!session_.gradient_rows(i)) continue;
    const auto rows = static_cast<size_t>(session_.variables()[i].shape.dim(0));
    while (all_rows_.size() < rows) all_rows_.push_back(static_cast<int32_t>(all_rows_.size()));
    RETURN_IF_ERROR(session_.SetGradientRows(i, std::span(all_rows_).first(rows)));
  }
  return absl::OkStatus();
}

absl::Status Ring::Exchange() {
  Clock::Duration* took = &times_.wait;  // The losses come first.
  for (Clock::Time begun = clock_.Now();;) {
    const absl::StatusOr<collective::Exchange*> next = core_.Next();
    own_error_ = next.status();
    RETURN_IF_ERROR(own_error_);
    collective::Exchange* const exchange = *next;
    if (exchange != nullptr) {
      RETURN_IF_ERROR(group_->Run(*exchange));
      times_.bytes += exchange->bytes_to_send();
    }
    const Clock::Time now = clock_.Now();
    *took += now - begun;
    if (exchange == nullptr) return absl::OkStatus();
    begun = now;
    took = &times_.exchange;
  }
}

std::optional<int> Ring::lost() const {
  return group_ == nullptr ? std::nullopt : group_->lost();
}

void Ring::Abort(uint32_t epoch) {
  meeting_.Cancel(epoch);
  std::lock_guard lock(mutex_);
  over_ = std::max(over_, epoch);
  if (group_ != nullptr && epoch_ <= over_) group_->Abort();
}

}  // namespace taas
