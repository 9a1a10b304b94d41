#include "operator/plan/tf_config.h"

#include "nlohmann/json.hpp"
#include "operator/base/status.h"

namespace taas {
namespace {

std::string HostList(const Job& job, const AddressBook& addresses, Role role) {
  const auto found = job.spec.roles.find(role);
  if (found == job.spec.roles.end()) return "";
  std::string list;
  for (int32_t index = 0; index < found->second.replicas; ++index) {
    if (index > 0) list += ",";
    list += addresses.Cluster(role, index);
  }
  return list;
}

}  // namespace

absl::StatusOr<std::string> TfConfig(const Job& job, const AddressBook& addresses, Role role,
                                     int32_t index) {
  nlohmann::ordered_json config;
  nlohmann::ordered_json& cluster = config["cluster"] = nlohmann::ordered_json::object();
  for (const auto& [other, spec] : job.spec.roles) {
    if (spec.replicas < 1) continue;
    auto& list = cluster[std::string(RoleName(other))] = nlohmann::ordered_json::array();
    for (int32_t i = 0; i < spec.replicas; ++i) list.push_back(addresses.Cluster(other, i));
  }
  config["task"] = {{"type", std::string(RoleName(role))}, {"index", index}};
  config["environment"] = "cloud";
  std::string text = config.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  if (text.size() > kTfConfigBytesMax) {
    return absl::InvalidArgumentError(
        "TF_CONFIG of " + std::string(RoleName(role)) + "-" + std::to_string(index) + " would be " +
        std::to_string(text.size()) + " bytes, and an environment variable holds at most " +
        std::to_string(kTfConfigBytesMax) + ": use fewer replicas or a shorter job name");
  }
  return text;
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReplicaEnvironment(
    const Job& job, const Ledger& ledger, const AddressBook& addresses, Role role, int32_t index) {
  ASSIGN_OR_RETURN(std::string tf_config, TfConfig(job, addresses, role, index));
  const std::string role_name(RoleName(role));
  const std::string index_text = std::to_string(index);
  const LedgerReplica& replica = ledger.replicas.at(role).at(index);
  std::vector<std::pair<std::string, std::string>> env = {
      {"TF_CONFIG", std::move(tf_config)},
      {"TAAS_JOB", job.meta.ns + "/" + job.meta.name},
      {"TAAS_JOB_UID", job.meta.uid},
      {"TAAS_ROLE", role_name},
      {"TAAS_INDEX", index_text},
      {"TAAS_ATTEMPT", std::to_string(ledger.attempt)},
      {"TAAS_POD_NUMBER", std::to_string(replica.pod_number)},
      {"TAAS_PS_HOSTS", HostList(job, addresses, Role::kPs)},
      {"TAAS_WORKER_HOSTS", HostList(job, addresses, Role::kWorker)},
      {"TAAS_JOB_NAME", role_name},
      {"TAAS_TASK_INDEX", index_text},
      {"TAAS_STATUS_PORT", std::to_string(addresses.StatusPortOf(role, index))},
      {"TAAS_TRAINER", job.spec.trainer.config},
      // No role of this release asks for GPUs: hide them from a process that would take all it
      // sees.
      {"NVIDIA_VISIBLE_DEVICES", "void"},
      {"CUDA_VISIBLE_DEVICES", ""},
  };
  return env;
}

}  // namespace taas
