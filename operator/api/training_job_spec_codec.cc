#include "operator/api/training_job_spec_codec.h"

#include <string>
#include <vector>

#include "operator/api/dialect.h"
#include "operator/api/pod_template.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

std::optional<RestartScope> RestartScopeFromName(std::string_view name) {
  if (name == "Replica") return RestartScope::kReplica;
  if (name == "Job") return RestartScope::kJob;
  return std::nullopt;
}

std::optional<ExitCodeRules::Preset> PresetFromName(std::string_view name) {
  if (name == "Signals") return ExitCodeRules::Preset::kSignals;
  if (name == "AtLeast128") return ExitCodeRules::Preset::kAtLeast128;
  return std::nullopt;
}

std::optional<EvaluatorInCluster> EvaluatorInClusterFromName(std::string_view name) {
  if (name == "Own") return EvaluatorInCluster::kOwn;
  if (name == "All") return EvaluatorInCluster::kAll;
  if (name == "None") return EvaluatorInCluster::kNone;
  return std::nullopt;
}

absl::Status ReadTrainer(const JsonField& trainer, TrainerSpec* out) {
  RETURN_IF_ERROR(trainer.Object().status());
  Json config = trainer.json();
  config.erase("image");
  out->config = DumpJson(config);
  RETURN_IF_ERROR(trainer["image"].Read(&out->image));
  RETURN_IF_ERROR(trainer["checkpoint"]["dir"].Read(&out->checkpoint_dir));
  return trainer["maxSteps"].Read(&out->max_steps);
}

absl::Status ReadElastic(const JsonField& elastic, std::optional<ElasticSpec>* out) {
  RETURN_IF_ERROR(elastic.Object().status());
  if (!elastic.present()) return absl::OkStatus();
  ElasticSpec& bounds = out->emplace();
  RETURN_IF_ERROR(elastic["minReplicas"].Read(&bounds.min_replicas));
  RETURN_IF_ERROR(elastic["maxReplicas"].Read(&bounds.max_replicas));
  if (bounds.min_replicas < 1) return elastic["minReplicas"].Wrong("1 or more");
  if (bounds.max_replicas < bounds.min_replicas) {
    return elastic["maxReplicas"].Wrong("minReplicas or more");
  }
  return absl::OkStatus();
}

absl::Status ReadRole(const JsonField& role, bool bundled, RoleSpec* out) {
  RETURN_IF_ERROR(role.Object().status());
  RETURN_IF_ERROR(role["replicas"].Read(&out->replicas));
  if (out->replicas < 0) return role["replicas"].Wrong("0 or more");
  RETURN_IF_ERROR(ReadElastic(role["elastic"], &out->elastic));
  RETURN_IF_ERROR(role["restartPolicy"].ReadName(
      RestartPolicyFromName, "Always, OnFailure, Never or ExitCode", &out->restart_policy));
  RETURN_IF_ERROR(role["gpus"].Read(&out->gpus));
  RETURN_IF_ERROR(role["gpuType"].Read(&out->gpu_type));
  ASSIGN_OR_RETURN(const JsonField resources, role["resources"].Object());
  out->resources = resources.Text();
  RETURN_IF_ERROR(ReadGpuLimit(resources, &out->gpu_limit));
  RETURN_IF_ERROR(role["env"].Items().status());
  out->env = role["env"].Text();
  RETURN_IF_ERROR(role["envFrom"].Items().status());
  out->env_from = role["envFrom"].Text();
  const JsonField pod_template = role["template"];
  if (!pod_template.present()) return bundled ? absl::OkStatus() : pod_template.Missing();
  return ReadPodTemplate(pod_template, DialectOf(JobKind::kTrainingJob), bundled, out);
}

absl::Status ReadRoles(const JsonField& roles, bool bundled, std::map<Role, RoleSpec>* out) {
  if (!roles.present()) return roles.Missing();
  RETURN_IF_ERROR(roles.Object().status());
  for (const Role role : {Role::kChief, Role::kPs, Role::kWorker, Role::kEvaluator}) {
    const JsonField spec = roles[std::string(RoleName(role))];
    if (!spec.present()) continue;
    RETURN_IF_ERROR(ReadRole(spec, bundled, &(*out)[role]));
  }
  return absl::OkStatus();
}

absl::Status ReadVolume(const JsonField& volume, VolumeSpec* out) {
  RETURN_IF_ERROR(volume.Object().status());
  RETURN_IF_ERROR(volume["name"].Read(&out->name));
  RETURN_IF_ERROR(volume["mountPath"].Read(&out->mount_path));
  RETURN_IF_ERROR(volume["readOnly"].Read(&out->read_only));
  ASSIGN_OR_RETURN(const std::vector<JsonField> roles, volume["roles"].Items());
  for (const JsonField& role : roles) {
    RETURN_IF_ERROR(role.ReadName(RoleFromName, "chief, ps, worker or evaluator",
                                  &out->roles.emplace_back()));
  }
  ASSIGN_OR_RETURN(const JsonField source, volume["source"].Object());
  if (!source.present()) return source.Missing();
  out->source = source.Text();
  return absl::OkStatus();
}

absl::Status ReadExitCodes(const JsonField& codes, ExitCodeRules* out) {
  RETURN_IF_ERROR(codes.Object().status());
  RETURN_IF_ERROR(codes["preset"].ReadName(PresetFromName, "Signals or AtLeast128", &out->preset));
  RETURN_IF_ERROR(codes["retryable"].Read(&out->retryable));
  return codes["permanent"].Read(&out->permanent);
}

std::optional<bool> GangFromName(std::string_view name) {
  if (name == "Required") return true;
  if (name == "Auto") return false;
  return std::nullopt;
}

absl::Status ReadScheduling(const JsonField& policy, SchedulingPolicy* out) {
  RETURN_IF_ERROR(policy.Object().status());
  RETURN_IF_ERROR(policy["gang"].ReadName(GangFromName, "Auto or Required", &out->gang_required));
  RETURN_IF_ERROR(policy["queue"].Read(&out->queue));
  RETURN_IF_ERROR(policy["priorityClassName"].Read(&out->priority_class));
  return policy["minAvailable"].Read(&out->min_available);
}

absl::Status ReadPolicies(const JsonField& spec, JobSpec* out) {
  RETURN_IF_ERROR(spec["suspend"].Read(&out->suspend));
  RETURN_IF_ERROR(spec["backoffLimit"].Read(&out->backoff_limit));
  RETURN_IF_ERROR(spec["activeDeadlineSeconds"].Read(&out->active_deadline_seconds));
  RETURN_IF_ERROR(spec["pendingDeadlineSeconds"].Read(&out->pending_deadline_seconds));
  RETURN_IF_ERROR(spec["ttlSecondsAfterFinished"].Read(&out->ttl_seconds_after_finished));
  RETURN_IF_ERROR(spec["cleanPodPolicy"].ReadName(
      CleanPodPolicyFromName, "Running, All or None", &out->clean_pod_policy));
  RETURN_IF_ERROR(spec["successPolicy"].ReadName(
      SuccessPolicyFromName, "Auto, Worker0 or AllWorkers", &out->success_policy));
  RETURN_IF_ERROR(
      spec["restartScope"].ReadName(RestartScopeFromName, "Replica or Job", &out->restart_scope));
  RETURN_IF_ERROR(ReadExitCodes(spec["exitCodes"], &out->exit_codes));
  RETURN_IF_ERROR(spec["nodeLossSeconds"].Read(&out->node_loss_seconds));
  RETURN_IF_ERROR(ReadScheduling(spec["schedulingPolicy"], &out->scheduling));
  RETURN_IF_ERROR(spec["network"].Object().status());
  RETURN_IF_ERROR(spec["network"]["port"].Read(&out->port));
  return spec["network"]["evaluatorInCluster"].ReadName(
      EvaluatorInClusterFromName, "Own, All or None", &out->evaluator_in_cluster);
}

}  // namespace

absl::Status ReadTrainingJobSpec(const JsonField& spec, JobSpec* out) {
  if (!spec.present()) return spec.Missing();
  RETURN_IF_ERROR(spec.Object().status());
  out->bundled_trainer = spec["trainer"].present();
  if (out->bundled_trainer) {
    RETURN_IF_ERROR(ReadTrainer(spec["trainer"], &out->trainer));
  }
  RETURN_IF_ERROR(ReadRoles(spec["roles"], out->bundled_trainer, &out->roles));
  ASSIGN_OR_RETURN(const std::vector<JsonField> volumes, spec["volumes"].Items());
  for (const JsonField& volume : volumes) {
    RETURN_IF_ERROR(ReadVolume(volume, &out->volumes.emplace_back()));
  }
  return ReadPolicies(spec, out);
}

}  // namespace taas
