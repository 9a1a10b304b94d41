#include "operator/plan/plan_fixture.h"

#include <chrono>

#include "operator/api/dialect.h"

namespace taas {

using std::chrono::seconds;

Snapshot NewJob(JobShape shape) {
  Snapshot now;
  now.now = Clock::WallTime(seconds(1'800'000'000));
  now.default_image = "taas/trainer:test";
  now.job.meta = {.ns = "default", .name = "mnist", .uid = "uid-1", .resource_version = "10",
                  .generation = 1};
  now.job.meta.creation_time = now.now - seconds(5);
  if (shape.chiefs > 0) now.job.spec.roles[Role::kChief].replicas = shape.chiefs;
  if (shape.ps > 0) now.job.spec.roles[Role::kPs].replicas = shape.ps;
  if (shape.workers > 0) now.job.spec.roles[Role::kWorker].replicas = shape.workers;
  if (shape.evaluators > 0) now.job.spec.roles[Role::kEvaluator].replicas = shape.evaluators;
  now.job.spec.trainer.config = R"({"model":{"name":"mlp"}})";
  now.job.spec.trainer.max_steps = 2000;
  return now;
}

Snapshot StartedJob(JobShape shape) {
  Snapshot now = NewJob(shape);
  now.job.ledger.emplace();
  now.job.ledger->start_time = now.job.meta.creation_time;
  for (const auto& [role, spec] : now.job.spec.roles) {
    for (int32_t i = 0; i < spec.replicas; ++i) now.job.ledger->replicas[role][i];
  }
  now.services["mnist"] = OurService(now);
  return now;
}

ServiceView OurService(const Snapshot& now) {
  return {.uid = "service-1",
          .owner_uid = now.job.meta.uid,
          .owner_kind = std::string(DialectOf(now.job.kind).kind_name),
          .job = now.job.meta.name};
}

Snapshot StartedTfJob(JobShape shape) {
  Snapshot now = StartedJob(shape);
  now.job.kind = JobKind::kTfJob;
  now.job.spec.bundled_trainer = false;
  now.job.spec.backoff_limit.reset();
  now.job.spec.clean_pod_policy = CleanPodPolicy::kNone;
  now.job.spec.exit_codes.preset = ExitCodeRules::Preset::kAtLeast128;
  now.job.spec.evaluator_in_cluster = EvaluatorInCluster::kAll;
  now.services.clear();
  for (auto& [role, spec] : now.job.spec.roles) {
    spec.restart_policy = RestartPolicy::kNever;
    spec.pod_template =
        R"({"spec":{"containers":[{"name":"tensorflow","image":"user/tf:1"}]}})";
    spec.container = 0;
    for (int32_t i = 0; i < spec.replicas; ++i) {
      now.services[PodName(now.job, role, i)] = OurService(now);
    }
  }
  return now;
}

Pod PodOf(const Snapshot& now, Role role, int32_t index, PodShape shape) {
  Pod pod;
  pod.meta = {.ns = "default",
              .name = PodName(now.job, role, index),
              .uid = "pod-" + std::string(RoleName(role)) + std::to_string(index) + "-" +
                     std::to_string(shape.number),
              .resource_version = "20"};
  pod.owner_uid = now.job.meta.uid;
  pod.owner_kind = DialectOf(now.job.kind).kind_name;
  pod.job = now.job.meta.name;
  pod.role = role;
  pod.index = index;
  pod.attempt = 1;
  pod.pod_number = shape.number;
  pod.phase = shape.phase;
  pod.node = shape.phase == PodPhase::kPending ? "" : "node-a";
  pod.ip = "10.0.0.1";
  pod.exit_code = shape.exit_code;
  pod.exit_reason = shape.exit_reason;
  pod.termination_message = shape.termination_message;
  if (shape.phase == PodPhase::kSucceeded || shape.phase == PodPhase::kFailed) {
    pod.started_at = now.now - seconds(1);
    pod.finished_at = now.now;
    if (!pod.exit_code && shape.phase == PodPhase::kSucceeded) pod.exit_code = 0;
  }
  return pod;
}

Pod PodFromSpec(const PodSpec& spec, const std::string& uid) {
  Pod pod;
  pod.meta = {.ns = spec.ns, .name = spec.name, .uid = uid, .resource_version = "1"};
  pod.owner_uid = spec.job_uid;
  pod.owner_kind = DialectOf(spec.owner_kind).kind_name;
  pod.job = spec.job_name;
  pod.role = spec.role;
  pod.index = spec.index;
  pod.attempt = 1;
  pod.pod_number = spec.pod_number;
  pod.bootstrap = spec.annotations.at(std::string(kBootstrapAnnotation));
  const auto token = spec.annotations.find(std::string(kTokenAnnotation));
  if (token != spec.annotations.end()) pod.token = token->second;
  const auto list = spec.annotations.find(std::string(kClusterMapAnnotation));
  if (list != spec.annotations.end()) pod.cluster_map = list->second;
  pod.template_hash =
      std::stoull(spec.annotations.at(std::string(kTemplateAnnotation)), nullptr, 16);
  const auto requests = spec.annotations.find(std::string(kRequestsAnnotation));
  if (requests != spec.annotations.end()) pod.requests = requests->second;
  return pod;
}

LedgerReplica& EntryOf(Snapshot& now, Role role, int32_t index) {
  return now.job.ledger->replicas[role][index];
}

Plan Follow(Snapshot& now) {
  Plan plan = PlanJob(now);
  for (const auto& step : StepsOf<WriteLedger>(plan)) {
    now.job.ledger = step.ledger;
    now.job.status = plan.status;
    return PlanJob(now);
  }
  return plan;
}

}  // namespace taas
