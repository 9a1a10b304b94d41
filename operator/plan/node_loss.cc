#include "operator/plan/node_loss.h"

#include "operator/plan/exit_codes.h"
#include "operator/plan/limits.h"

namespace taas {

std::optional<Clock::WallTime> StuckFrom(const Snapshot& snapshot, const Pod& pod) {
  if (!pod.meta.deletion_time.has_value() || pod.node.empty()) return std::nullopt;
  // A ready one has a node that answers: whoever outlives his grace there is that node's affair.
  if (pod.ready || HasEnded(pod)) return std::nullopt;
  // Deleted by force already.
  if (pod.deletion_grace.count() == 0) return std::nullopt;
  const auto seen = snapshot.deleting_for.find(pod.meta.uid);
  const Clock::Duration so_far =
      seen == snapshot.deleting_for.end() ? Clock::Duration::zero() : seen->second;
  return snapshot.now + (pod.deletion_grace + kKillMargin - so_far);
}

}  // namespace taas
