#include "operator/plan/use_pod.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "operator/api/dialect.h"
#include "operator/base/status.h"
#include "operator/plan/container_json.h"
#include "operator/plan/pod_json.h"
#include "operator/plan/role_pod.h"
#include "operator/plan/tf_config.h"

namespace taas {
namespace {

using nlohmann::json;

// It has nothing to save. A process of number 1 does not die of SIGTERM by itself.
constexpr int kTerminationGraceSeconds = 1;
constexpr char kInputVolume[] = "taas-input";
constexpr char kGpuTaint[] = "nvidia.com/gpu";

// Notes the names of those that were there.
void DropGpus(json& resources, std::set<std::string>* dropped) {
  for (const char* part : {"limits", "requests"}) {
    if (!resources.contains(part) || !resources[part].is_object()) continue;
    json kept = json::object();
    for (const auto& [resource, amount] : resources[part].items()) {
      if (IsGpuResource(resource)) {
        dropped->insert(resource);
      } else {
        kept[resource] = amount;
      }
    }
    resources[part] = std::move(kept);
  }
}

// Labels and annotations by which somebody would take the pod for a replica.
void DropReplicaWords(json& metadata) {
  for (const char* part : {"labels", "annotations"}) {
    if (!metadata.contains(part) || !metadata[part].is_object()) continue;
    json kept = json::object();
    for (const auto& [key, value] : metadata[part].items()) {
      const bool of_replica = key.starts_with("taas.dev/") ||
                              key.starts_with("training.kubeflow.org/");
      if (!of_replica) kept[key] = value;
    }
    metadata[part] = std::move(kept);
  }
}

// Only the trainer's container stays: one beside it would keep the pod from ending. Its probes ask
// for what only a replica serves.
json TemplateForUse(const RoleSpec& role, std::set<std::string>* gpus) {
  json made = role.pod_template.empty() ? json::object() : json::parse(role.pod_template);
  if (made.contains("metadata")) DropReplicaWords(made["metadata"]);
  if (!made.contains("spec") || !made["spec"].contains("containers")) return made;
  json& containers = made["spec"]["containers"];
  if (role.container < 0 || static_cast<size_t>(role.container) >= containers.size()) {
    made["spec"].erase("containers");
    return made;
  }
  json container = containers[static_cast<size_t>(role.container)];
  for (const char* of_replica :
       {"livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "ports"}) {
    container.erase(of_replica);
  }
  if (container.contains("resources")) DropGpus(container["resources"], gpus);
  containers = json::array({std::move(container)});
  return made;
}

RoleSpec RoleForUse(RoleSpec role, std::set<std::string>* gpus) {
  if (role.gpus > 0) gpus->insert(kGpuTaint);
  const json made = TemplateForUse(role, gpus);
  role.container = made.contains("spec") && made["spec"].contains("containers") ? 0 : -1;
  role.pod_template = made.dump(-1, ' ', false, json::error_handler_t::replace);
  if (!role.resources.empty()) {
    json resources = json::parse(role.resources);
    DropGpus(resources, gpus);
    role.resources = resources.dump();
  }
  role.gpus = role.gpu_limit = 0;
  role.gpu_type.clear();
  return role;
}

// As its replica 0 has them, before the user's, which may refer to them.
void AddEnvironment(const Job& job, Role role, json& container) {
  std::vector<std::pair<std::string, std::string>> ours = {
      {"TAAS_JOB", job.meta.ns + "/" + job.meta.name},
      {"TAAS_JOB_UID", job.meta.uid},
      {"TAAS_ROLE", std::string(RoleName(role))},
      {"TAAS_INDEX", "0"}};
  // A TFJob's is the template's, and may refer to what stands before it there.
  if (job.kind != JobKind::kTfJob) ours.emplace_back(kTrainerVariable, job.spec.trainer.config);
  std::set<std::string> taken = {std::string(kTokenVariable)};
  json env = json::array();
  for (const auto& [name, value] : ours) {
    taken.insert(name);
    env.push_back({{"name", name}, {"value", value}});
  }
  for (const json& item : container.value("env", json::array())) {
    if (taken.count(item.value("name", "")) == 0) env.push_back(item);
  }
  container["env"] = std::move(env);
}

void AddInput(const std::string& config_map, json& spec, json& container) {
  if (config_map.empty()) return;
  spec["volumes"].push_back({{"name", kInputVolume}, {"configMap", {{"name", config_map}}}});
  container["volumeMounts"].push_back(
      {{"name", kInputVolume}, {"mountPath", kUseInputDir}, {"readOnly", true}});
}

// To where the role's pods go by what they ask for: the API server lets those that ask for GPUs
// onto nodes that are kept for them.
void Tolerate(const std::set<std::string>& gpus, json& spec) {
  for (const std::string& resource : gpus) {
    spec["tolerations"].push_back(
        {{"key", resource}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
  }
}

absl::StatusOr<json> MakePod(const Job& job, const UsePod& use) {
  const Role role = UseRole(job);
  std::set<std::string> gpus;
  PodSpec like = RolePod(job, role, use.name, {.image = use.image});
  like.user = RoleForUse(std::move(like.user), &gpus);
  // The pods of a TFJob are made as their template has them, whatever they run.
  if (job.kind == JobKind::kTfJob) like.bundled_trainer = false;
  ASSIGN_OR_RETURN(const std::string text, PodJson(like));
  json pod = json::parse(text);
  json metadata = UseMetadata(job, use.name, use.use);
  for (const char* part : {"labels", "annotations"}) {
    json users = pod["metadata"].value(part, json::object());
    users.erase(std::string(kJobLabel));
    users.erase(std::string(kUidLabel));
    users.update(metadata.value(part, json::object()));
    if (!users.empty()) metadata[part] = std::move(users);
  }
  pod["metadata"] = std::move(metadata);
  json& spec = pod["spec"];
  spec["restartPolicy"] = "Never";
  spec["activeDeadlineSeconds"] = use.deadline_seconds;
  spec["terminationGracePeriodSeconds"] = kTerminationGraceSeconds;
  json& container = spec["containers"][0];
  container.erase("ports");
  container["args"] = use.arguments;
  AddEnvironment(job, role, container);
  AddInput(use.input_map, spec, container);
  Tolerate(gpus, spec);
  return pod;
}

}  // namespace

Role UseRole(const Job& job) {
  const auto chief = job.spec.roles.find(Role::kChief);
  const bool has_chief = chief != job.spec.roles.end() && chief->second.replicas > 0;
  return has_chief ? Role::kChief : Role::kWorker;
}

std::string UseContainer(const json& pod) { return pod["spec"]["containers"][0].value("name", ""); }

json UseMetadata(const Job& job, const std::string& name, const std::string& use) {
  const Dialect& dialect = DialectOf(job.kind);
  const json owner = {{"apiVersion", dialect.group_version},
                      {"kind", dialect.kind_name},
                      {"name", job.meta.name},
                      {"uid", job.meta.uid}};
  return {{"name", name},
          {"namespace", job.meta.ns},
          {"labels",
           {{"app.kubernetes.io/managed-by", "taas"},
            {std::string(kUseLabel), use},
            {std::string(kUseOfLabel), job.meta.name}}},
          {"ownerReferences", json::array({owner})}};
}

absl::StatusOr<json> UsePodJson(const Job& job, const UsePod& use) {
  try {
    return MakePod(job, use);
  } catch (const json::exception& error) {
    return absl::InvalidArgumentError("make pod " + job.meta.ns + "/" + use.name +
                                      ": the template, env or resources of role " +
                                      std::string(RoleName(UseRole(job))) +
                                      " cannot be followed: " + error.what());
  }
}

}  // namespace taas
