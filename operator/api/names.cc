#include "operator/api/job.h"

#include <algorithm>
#include <array>
#include <utility>

namespace taas {
namespace {

template <typename Value, size_t kCount>
using Names = std::array<std::pair<Value, std::string_view>, kCount>;

constexpr Names<Role, 4> kRoles{{
    {Role::kChief, "chief"},
    {Role::kPs, "ps"},
    {Role::kWorker, "worker"},
    {Role::kEvaluator, "evaluator"},
}};

constexpr Names<RestartCause, 6> kCauses{{
    {RestartCause::kUserError, "userError"},
    {RestartCause::kOutOfMemory, "outOfMemory"},
    {RestartCause::kKilled, "killed"},
    {RestartCause::kPreempted, "preempted"},
    {RestartCause::kNodeLost, "nodeLost"},
    {RestartCause::kBadNode, "badNode"},
}};

constexpr Names<JobState, 6> kStates{{
    {JobState::kPending, "Pending"},
    {JobState::kRunning, "Running"},
    {JobState::kRestarting, "Restarting"},
    {JobState::kSuspended, "Suspended"},
    {JobState::kSucceeded, "Succeeded"},
    {JobState::kFailed, "Failed"},
}};

constexpr Names<RestartPolicy, 4> kRestartPolicies{{
    {RestartPolicy::kAlways, "Always"},
    {RestartPolicy::kOnFailure, "OnFailure"},
    {RestartPolicy::kNever, "Never"},
    {RestartPolicy::kExitCode, "ExitCode"},
}};

constexpr Names<SuccessPolicy, 3> kSuccessPolicies{{
    {SuccessPolicy::kAuto, "Auto"},
    {SuccessPolicy::kWorker0, "Worker0"},
    {SuccessPolicy::kAllWorkers, "AllWorkers"},
}};

constexpr Names<CleanPodPolicy, 3> kCleanPodPolicies{{
    {CleanPodPolicy::kRunning, "Running"},
    {CleanPodPolicy::kAll, "All"},
    {CleanPodPolicy::kNone, "None"},
}};

template <typename Value, size_t kCount>
std::string_view NameOf(const Names<Value, kCount>& names, Value value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "unknown";
}

template <typename Value, size_t kCount>
std::optional<Value> ValueOf(const Names<Value, kCount>& names, std::string_view name) {
  for (const auto& [value, known] : names) {
    if (known == name) return value;
  }
  return std::nullopt;
}

}  // namespace

std::string_view RoleName(Role role) { return NameOf(kRoles, role); }

std::optional<Role> RoleFromName(std::string_view name) { return ValueOf(kRoles, name); }

std::string_view RestartCauseName(RestartCause cause) { return NameOf(kCauses, cause); }

std::optional<RestartCause> RestartCauseFromName(std::string_view name) {
  return ValueOf(kCauses, name);
}

std::string_view JobStateName(JobState state) { return NameOf(kStates, state); }

std::optional<JobState> JobStateFromName(std::string_view name) { return ValueOf(kStates, name); }

std::string_view RestartPolicyName(RestartPolicy policy) {
  return NameOf(kRestartPolicies, policy);
}

std::optional<RestartPolicy> RestartPolicyFromName(std::string_view name) {
  return ValueOf(kRestartPolicies, name);
}

std::string_view SuccessPolicyName(SuccessPolicy policy) {
  return NameOf(kSuccessPolicies, policy);
}

std::optional<SuccessPolicy> SuccessPolicyFromName(std::string_view name) {
  return ValueOf(kSuccessPolicies, name);
}

std::optional<CleanPodPolicy> CleanPodPolicyFromName(std::string_view name) {
  return ValueOf(kCleanPodPolicies, name);
}

bool IsJobToken(std::string_view text) {
  return !text.empty() && text.size() <= kJobTokenMax &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return ('0' <= c && c <= '9') || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z');
         });
}

std::string PodName(std::string_view job, Role role, int32_t index) {
  return std::string(job) + "-" + std::string(RoleName(role)) + "-" + std::to_string(index);
}

}  // namespace taas
