#include "trainer/graph/gradient_watch.h"

#include <utility>

namespace taas {

GradientWatch::GradientWatch(const Uses& uses, size_t steps,
                             std::function<void(size_t count)> there)
    : there_(std::move(there)), gradients_of_(steps) {
  for (size_t i = 0; i < uses.size(); ++i) {
    uses_.push_back(uses[i].size());
    for (const int step : uses[i]) gradients_of_[static_cast<size_t>(step)].push_back(i);
  }
  left_ = uses_;
}

void GradientWatch::Begin() {
  const std::lock_guard lock(mutex_);
  left_ = uses_;
  count_ = 0;
}

void GradientWatch::OnStep(int step) {
  const std::vector<size_t>& gradients = gradients_of_[static_cast<size_t>(step)];
  if (gradients.empty()) return;
  const std::lock_guard lock(mutex_);
  for (const size_t i : gradients) --left_[i];
  const size_t before = count_;
  while (count_ < left_.size() && left_[count_] == 0) ++count_;
  if (count_ > before) there_(count_);
}

}  // namespace taas
