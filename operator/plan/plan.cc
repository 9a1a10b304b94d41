#include "operator/plan/plan.h"

#include <algorithm>

#include "operator/plan/pods.h"
#include "operator/plan/status.h"

namespace taas {

Plan PlanJob(const Snapshot& snapshot) {
  Plan plan;
  plan.status = snapshot.job.status;
  // The garbage collector takes what is ours; there is nothing left to say.
  if (snapshot.job.meta.deletion_time.has_value()) return plan;

  LedgerChange change = AdvanceLedger(snapshot);
  if (change.ports_wanted > 0 && !change.ledger.outcome.has_value()) {
    plan.ports_wanted = change.ports_wanted;
    return plan;
  }
  plan.wake_at = change.wake_at;
  plan.status = DeriveStatus(snapshot, change.ledger);
  const std::optional<Ledger>& stored = snapshot.job.ledger;
  if (stored.has_value()) {
    ChildSteps children = PlanChildren(snapshot, *stored, change.ledger);
    plan.steps = std::move(children.steps);
    if (children.wake_at.has_value()) {
      plan.wake_at = std::min(plan.wake_at.value_or(*children.wake_at), *children.wake_at);
    }
  }
  if (!stored.has_value() || *stored != change.ledger) {
    plan.steps.insert(plan.steps.begin(),
                      WriteLedger{std::move(change.ledger), std::move(change.notes)});
  }
  return plan;
}

}  // namespace taas
