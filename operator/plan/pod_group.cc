#include "operator/plan/pod_group.h"

#include <algorithm>
#include <utility>

#include "operator/plan/gang.h"
#include "operator/plan/gang_resources.h"
#include "operator/plan/replicas.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;

// In the order in which training needs them, until the gang is full.
std::string ResourcesOf(const Snapshot& snapshot, const Ledger& ledger, int32_t size,
                        const std::function<PodSpec(Role role)>& pod_of) {
  const Job& job = snapshot.job;
  if (!job.spec.scheduling.min_resources.empty()) return job.spec.scheduling.min_resources;
  std::vector<std::pair<PodSpec, int32_t>> pods;
  for (const auto& [role, spec] : job.spec.roles) {
    int32_t count = 0;
    for (int32_t i = 0; i < spec.replicas && size > 0; ++i) {
      if (!IsInGang(job, ledger, role, i)) continue;
      ++count;
      --size;
    }
    if (count > 0) pods.emplace_back(pod_of(role), count);
  }
  return GangResources(pods);
}

std::string SpecOf(const Snapshot& snapshot, const Ledger& ledger,
                   const std::function<PodSpec(Role role)>& pod_of) {
  const SchedulingPolicy& policy = snapshot.job.spec.scheduling;
  const int32_t size = GangSize(snapshot, ledger);
  json spec = {{"minMember", size}};
  const std::string resources = ResourcesOf(snapshot, ledger, size, pod_of);
  const json list = json::parse(resources, nullptr, /*allow_exceptions=*/false);
  if (list.is_object() && !list.empty()) spec["minResources"] = list;
  if (snapshot.gang.scheduler == GangScheduler::kVolcano) {
    spec["queue"] = policy.queue.empty() ? "default" : policy.queue;
    if (!policy.priority_class.empty()) spec["priorityClassName"] = policy.priority_class;
  } else if (policy.schedule_timeout_seconds.has_value()) {
    spec["scheduleTimeoutSeconds"] = *policy.schedule_timeout_seconds;
  }
  return spec.dump(-1, ' ', false, json::error_handler_t::replace);
}

CreatePodGroup Make(const Snapshot& snapshot, std::string spec) {
  const Job& job = snapshot.job;
  return {OwnedBy(job, job.meta.name), snapshot.gang.scheduler, std::move(spec)};
}

}  // namespace

PodGroupPlan PlanPodGroup(const Snapshot& snapshot, const Ledger& stored, bool somebody_waits,
                          const std::function<PodSpec(Role role)>& pod_of) {
  PodGroupPlan plan;
  if (!HasPodGroup(snapshot)) return plan;
  plan.ready = WhyGangWaits(snapshot).reason.empty();
  const Job& job = snapshot.job;
  if (!snapshot.pod_group.has_value()) {
    plan.steps.push_back(Make(snapshot, SpecOf(snapshot, stored, pod_of)));
    return plan;
  }
  const PodGroupView& group = *snapshot.pod_group;
  if (group.owner_uid != job.meta.uid) {
    if (!IsOfEarlierJob(group, job)) {
      plan.steps.push_back(ReportConflict{
          .kind = "PodGroup", .name = job.meta.name, .owner_uid = group.owner_uid});
    }
    return plan;
  }
  if (group.terminating) return plan;
  const bool only_smaller = group.min_member >= GangSize(snapshot, stored) &&
                            group.min_member <= GangSize(snapshot, Ledger());
  if (!somebody_waits && only_smaller) return plan;
  std::string spec = SpecOf(snapshot, stored, pod_of);
  if (group.spec == spec && group.min_member == GangSize(snapshot, stored)) return plan;
  plan.steps.push_back(UpdatePodGroup{.ns = job.meta.ns,
                                      .name = job.meta.name,
                                      .scheduler = snapshot.gang.scheduler,
                                      .uid = group.uid,
                                      .resource_version = group.resource_version,
                                      .before = group.spec,
                                      .spec = std::move(spec)});
  return plan;
}

std::optional<DeletePodGroup> DropPodGroup(const Snapshot& snapshot, std::string why) {
  if (!snapshot.pod_group.has_value()) return std::nullopt;
  const PodGroupView& group = *snapshot.pod_group;
  if (group.owner_uid != snapshot.job.meta.uid || group.terminating) return std::nullopt;
  return DeletePodGroup{.ns = snapshot.job.meta.ns,
                        .name = snapshot.job.meta.name,
                        .scheduler = snapshot.gang.scheduler,
                        .uid = group.uid,
                        .why = std::move(why)};
}

}  // namespace taas
