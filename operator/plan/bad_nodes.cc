#include "operator/plan/bad_nodes.h"

#include "operator/plan/limits.h"

namespace taas {

bool IsForgiven(const BadNode& node, Clock::WallTime now) {
  return now >= node.since + kBadNodeTime;
}

std::vector<std::string> NodesToAvoid(const Ledger& ledger, Clock::WallTime now) {
  std::vector<std::string> names;
  for (const BadNode& node : ledger.bad_nodes) {
    if (!IsForgiven(node, now)) names.push_back(node.name);
  }
  return names;
}

}  // namespace taas
