#include "trainer/strategy/untrained_values.h"

#include <span>

namespace taas {

void UntrainedValues::Publish(Session& session) {
  const std::vector<VariableInfo>& variables = session.variables();
  std::lock_guard lock(mutex_);
  size_t entry = 0;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].trainable) continue;
    if (entry == entries_.size()) entries_.push_back({i, {}});
    const std::span<const float> values = session.variable(i);
    entries_[entry++].values.assign(values.begin(), values.end());
  }
}

void UntrainedValues::CopyTo(std::vector<std::vector<float>>* tensors) const {
  std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) (*tensors)[entry.variable] = entry.values;
}

}  // namespace taas
