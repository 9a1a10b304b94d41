#include "dashboard/history/history_tails.h"

namespace taas::dashboard {

HistoryTails::Pods HistoryTails::Pick(const Pods& pods, bool all) {
  Pods picked;
  for (const auto& pod : pods) {
    const bool ended = HasEnded(*pod);
    const bool ends = ended || all || pod->meta.deletion_time.has_value();
    // Without a node it never ran and has no log.
    if (!ends || pod->node.empty() || !pod->role.has_value()) continue;
    auto found = asked_.find(pod->meta.uid);
    if (found == asked_.end()) {
      const bool matters = pod->phase == PodPhase::kFailed || pod->index == 0;
      if (asked_.size() >= (matters ? kPodsMax : kPodsWell)) continue;
      found = asked_.emplace(pod->meta.uid, Asked{}).first;
    }
    Asked& asked = found->second;
    if (asked.have || asked.asking) continue;
    if (ended ? asked.tries >= kTries : asked.early) continue;
    asked.early = true;
    asked.tries += ended ? 1 : 0;
    asked.asking = true;
    picked.push_back(pod);
  }
  return picked;
}

void HistoryTails::Answered(const Pods& asked, const std::set<std::string>& got) {
  for (const auto& pod : asked) {
    const auto found = asked_.find(pod->meta.uid);
    if (found == asked_.end()) continue;
    found->second.asking = false;
    found->second.have |= HasEnded(*pod) && got.count(pod->meta.name) > 0;
  }
}

}  // namespace taas::dashboard
