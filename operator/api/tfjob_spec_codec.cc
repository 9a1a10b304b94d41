#include "operator/api/tfjob_spec_codec.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

#include "operator/api/dialect.h"
#include "operator/api/pod_template.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

std::optional<SuccessPolicy> TfSuccessPolicyFromName(std::string_view name) {
  if (name.empty()) return SuccessPolicy::kAuto;
  if (name == "AllWorkers") return SuccessPolicy::kAllWorkers;
  return std::nullopt;
}

absl::Status ReadRole(const JsonField& role, RoleSpec* out) {
  if (!role.present()) return role.Missing();
  RETURN_IF_ERROR(role.Object().status());
  RETURN_IF_ERROR(role["replicas"].Read(&out->replicas));
  if (out->replicas < 0) return role["replicas"].Wrong("0 or more");
  out->restart_policy = RestartPolicy::kNever;
  RETURN_IF_ERROR(role["restartPolicy"].ReadName(
      RestartPolicyFromName, "Always, OnFailure, Never or ExitCode", &out->restart_policy));
  const JsonField pod_template = role["template"];
  if (!pod_template.present()) return pod_template.Missing();
  return ReadPodTemplate(pod_template, DialectOf(JobKind::kTfJob), /*may_add=*/false, out);
}

absl::Status ReadRoles(const JsonField& roles, JobSpec* out) {
  if (!roles.present()) return roles.Missing();
  RETURN_IF_ERROR(roles.Object().status());
  for (const auto& [key, value] : roles.json().items()) {
    if (value.is_null()) continue;  // As a server takes it.
    const std::optional<TfRole> known = TfRoleFromKey(key);
    if (!known.has_value()) {
      return absl::InvalidArgumentError(roles.path() + "." + key +
                                        ": is not PS, Worker, Chief, Master or Evaluator");
    }
    if (out->roles.count(known->role) != 0) {
      return absl::InvalidArgumentError(roles.path() + "." + key + ": stands for the role " +
                                        std::string(RoleName(known->role)) +
                                        " that another key stands for already");
    }
    if (known->master) out->chief_is_master = true;
    RETURN_IF_ERROR(ReadRole(roles[key], &out->roles[known->role]));
  }
  return absl::OkStatus();
}

// `policies` is spec or spec.runPolicy.
absl::Status ReadPolicies(const JsonField& policies, JobSpec* out) {
  RETURN_IF_ERROR(policies["cleanPodPolicy"].ReadName(
      CleanPodPolicyFromName, "All, Running or None", &out->clean_pod_policy));
  RETURN_IF_ERROR(policies["ttlSecondsAfterFinished"].Read(&out->ttl_seconds_after_finished));
  RETURN_IF_ERROR(policies["activeDeadlineSeconds"].Read(&out->active_deadline_seconds));
  return policies["backoffLimit"].Read(&out->backoff_limit);
}

// Zero is what generators write for "not set".
absl::Status ReadScheduling(const JsonField& policy, SchedulingPolicy* out) {
  RETURN_IF_ERROR(policy.Object().status());
  RETURN_IF_ERROR(policy["queue"].Read(&out->queue));
  RETURN_IF_ERROR(policy["priorityClass"].Read(&out->priority_class));
  RETURN_IF_ERROR(policy["minAvailable"].Read(&out->min_available));
  if (out->min_available == 0) out->min_available.reset();
  ASSIGN_OR_RETURN(const JsonField resources, policy["minResources"].Object());
  out->min_resources = resources.Text();
  return policy["scheduleTimeoutSeconds"].Read(&out->schedule_timeout_seconds);
}

}  // namespace

std::optional<TfRole> TfRoleFromKey(std::string_view key) {
  std::string lower(key);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower == "master") return TfRole{Role::kChief, true};
  const std::optional<Role> role = RoleFromName(lower);
  if (!role.has_value()) return std::nullopt;
  return TfRole{*role, false};
}

absl::Status ReadTfJobSpec(const JsonField& spec, JobSpec* out) {
  if (!spec.present()) return spec.Missing();
  RETURN_IF_ERROR(spec.Object().status());
  out->bundled_trainer = false;
  out->backoff_limit.reset();
  out->clean_pod_policy = CleanPodPolicy::kNone;
  out->exit_codes.preset = ExitCodeRules::Preset::kAtLeast128;
  out->evaluator_in_cluster = EvaluatorInCluster::kAll;
  RETURN_IF_ERROR(ReadRoles(spec["tfReplicaSpecs"], out));
  RETURN_IF_ERROR(ReadPolicies(spec, out));
  const JsonField run_policy = spec["runPolicy"];
  RETURN_IF_ERROR(run_policy.Object().status());
  RETURN_IF_ERROR(ReadPolicies(run_policy, out));
  RETURN_IF_ERROR(run_policy["suspend"].Read(&out->suspend));
  RETURN_IF_ERROR(ReadScheduling(run_policy["schedulingPolicy"], &out->scheduling));
  RETURN_IF_ERROR(run_policy["managedBy"].Read(&out->managed_by));
  if (out->managed_by == kTrainingOperator) out->managed_by.clear();
  RETURN_IF_ERROR(spec["successPolicy"].ReadName(TfSuccessPolicyFromName, "\"\" or AllWorkers",
                                                 &out->success_policy));
  return spec["enableDynamicWorker"].Read(&out->dynamic_worker);
}

absl::Status ReadPendingDeadline(const JsonField& annotation, JobSpec* out) {
  if (!annotation.present()) return absl::OkStatus();
  constexpr int64_t kSecondsMax = 315'360'000;  // Ten years, as in the CRD of TrainingJobs.
  std::string text;
  RETURN_IF_ERROR(annotation.Read(&text));
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || seconds < 1 || seconds > kSecondsMax) {
    return absl::InvalidArgumentError(annotation.path() +
                                      ": it must be a whole number of seconds from 1 to " +
                                      std::to_string(kSecondsMax));
  }
  out->pending_deadline_seconds = seconds;
  return absl::OkStatus();
}

}  // namespace taas
