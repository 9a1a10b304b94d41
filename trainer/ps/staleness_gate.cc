#include "trainer/ps/staleness_gate.h"

#include <algorithm>
#include <vector>

namespace taas::ps {

std::optional<int64_t> StalenessGate::base(const Gradient& gradient) const {
  const auto found = bases_.find(gradient);
  return found == bases_.end() ? std::nullopt : std::optional(found->second);
}

void StalenessGate::EndBatch(int64_t batch) {
  std::erase_if(bases_, [batch](const auto& entry) { return entry.first.batch == batch; });
}

bool StalenessGate::MayApply(const Gradient& gradient, int64_t step) const {
  const int64_t own = bases_.at(gradient);
  std::vector<int64_t> others;
  for (const auto& [other, base] : bases_) {
    if (other != gradient && InTime(base, step)) others.push_back(base);
  }
  std::ranges::sort(others);
  if (others.empty() || own <= others.front()) return true;
  for (size_t before = 0; before < others.size(); ++before) {
    // The update after `step` is this gradient's; `before` of them go first.
    if (!InTime(others[before], step + 1 + static_cast<int64_t>(before))) return false;
  }
  return true;
}

}  // namespace taas::ps
