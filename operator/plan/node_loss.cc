#include "operator/plan/node_loss.h"

#include "operator/plan/exit_codes.h"
#include "operator/plan/limits.h"

namespace taas {

std::optional<Clock::WallTime> StuckFrom(const Pod& pod) {
  if (!pod.meta.deletion_time.has_value() || pod.node.empty()) return std::nullopt;
  // A ready one has a node that answers: whoever outlives his grace there is that node's affair.
  if (pod.ready || HasEnded(pod)) return std::nullopt;
  // Deleted by force already.
  if (pod.deletion_grace.count() == 0) return std::nullopt;
  return *pod.meta.deletion_time + kKillMargin;
}

}  // namespace taas
