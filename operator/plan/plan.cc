#include "operator/plan/plan.h"

#include <algorithm>

#include "operator/plan/conditions.h"
#include "operator/plan/gang.h"
#include "operator/plan/ledger_draft.h"
#include "operator/plan/other_controller.h"
#include "operator/plan/pods.h"
#include "operator/plan/status.h"

namespace taas {
namespace {

void WakeAt(Plan& plan, std::optional<Clock::WallTime> time) {
  if (time.has_value()) plan.wake_at = std::min(plan.wake_at.value_or(*time), *time);
}

// At the end of its time to live a job goes, with all that is left of it.
void PlanTimeToLive(const Snapshot& snapshot, Plan& plan) {
  const Job& job = snapshot.job;
  const std::optional<int32_t> ttl = job.spec.ttl_seconds_after_finished;
  if (!ttl.has_value() || !job.ledger.has_value() || !job.ledger->outcome.has_value()) return;
  const Clock::WallTime end =
      job.ledger->outcome_time.value_or(snapshot.now) + std::chrono::seconds(*ttl);
  if (snapshot.now < end) return WakeAt(plan, end);
  plan.steps = {DeleteJob{.kind = job.kind,
                          .ns = job.meta.ns,
                          .name = job.meta.name,
                          .uid = job.meta.uid,
                          .resource_version = job.meta.resource_version,
                          .why = "it ended ttlSecondsAfterFinished (" + std::to_string(*ttl) +
                                 " s) ago"}};
}

// A job that has not begun begins when the operator can do what it asks for: nothing of it is made,
// and its deadlines do not run.
bool IsRefused(const Snapshot& snapshot) {
  const Job& job = snapshot.job;
  return !WhyNoGang(snapshot).reason.empty() && !job.ledger.has_value() &&
         !job.status.start_time.has_value() && !job.spec.suspend;
}

// Of a role that the manifest no longer has nobody knows how its pods should look.
void DropUnknownRoles(const JobSpec& spec, std::vector<Step>& steps) {
  std::erase_if(steps, [&spec](const Step& step) {
    const CreatePod* create = std::get_if<CreatePod>(&step);
    return create != nullptr && spec.roles.count(create->pod.role) == 0;
  });
}

}  // namespace

Plan PlanJob(const Snapshot& snapshot) {
  Plan plan;
  plan.status = snapshot.job.status;
  // The garbage collector takes what is ours; there is nothing left to say.
  if (snapshot.job.meta.deletion_time.has_value()) {
    plan.steps = ReleaseHeldBack(snapshot);
    return plan;
  }
  if (!snapshot.job.spec.managed_by.empty()) return plan;  // Its manifest leaves it to another.
  if (EndedElsewhere(snapshot)) return plan;
  if (const std::string why = WhyHandsOff(snapshot); !why.empty()) {
    plan.hands_off = true;
    plan.status.message = why;
    plan.status.conditions = WithRefusal(snapshot, why);
    return plan;
  }
  if (const auto until = WaitsForOtherUntil(snapshot); until.has_value()) {
    plan.wake_at = until;
    return plan;
  }
  if (IsRefused(snapshot)) {
    plan.status = DeriveStatus(snapshot, LedgerDraft(snapshot).ledger());
    return plan;
  }

  LedgerChange change = AdvanceLedger(snapshot);
  if (change.ports_wanted > 0 && !change.ledger.outcome.has_value()) {
    plan.ports_wanted = change.ports_wanted;
    return plan;
  }
  plan.wake_at = change.wake_at;
  const std::optional<Ledger>& stored = snapshot.job.ledger;
  std::optional<Snapshot> begun;
  if (!change.flaw.empty()) begun = AsBegun(snapshot);
  const Snapshot& followed = begun.has_value() ? *begun : snapshot;
  plan.status =
      DeriveStatus(followed, change.shown.value_or(change.ledger), &plan.hindrances);
  if (begun.has_value() && !change.ledger.outcome.has_value()) plan.status.message = change.flaw;
  if (stored.has_value()) {
    ChildSteps children = PlanChildren(followed, *stored, change.ledger);
    plan.steps = std::move(children.steps);
    DropUnknownRoles(snapshot.job.spec, plan.steps);
    WakeAt(plan, children.wake_at);
  }
  if (!stored.has_value() || *stored != change.ledger) {
    plan.steps.insert(plan.steps.begin(),
                      WriteLedger{std::move(change.ledger), std::move(change.notes)});
  }
  PlanTimeToLive(snapshot, plan);
  return plan;
}

}  // namespace taas
