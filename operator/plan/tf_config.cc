#include "operator/plan/tf_config.h"

#include <map>

#include "operator/api/dialect.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::ordered_json;

bool SeesEvaluator(const Job& job, Role reader) {
  switch (job.spec.evaluator_in_cluster) {
    case EvaluatorInCluster::kOwn: return reader == Role::kEvaluator;
    case EvaluatorInCluster::kAll: return true;
    case EvaluatorInCluster::kNone: return false;
  }
  return false;
}

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

bool IsSparse(const Job& job) { return job.kind == JobKind::kTfJob && job.spec.dynamic_worker; }

// A list of all replicas stands in TF_CONFIG already, and of a large job it is half of a pod. So
// whoever wants it by itself says so: $(TAAS_PS_HOSTS) in a command, or the name in a script.
bool NeedsHostList(const Job& job, Role role, std::string_view variable) {
  if (IsSparse(job) || !HasTfConfig(job)) return true;
  const RoleSpec& spec = job.spec.roles.at(role);
  return spec.pod_template.find(variable) != std::string::npos ||
         spec.env.find(variable) != std::string::npos;
}

// The roles in the order of their names, as every reader of TF_CONFIG has seen them.
ordered_json FullCluster(const Job& job, const AddressBook& addresses, Role reader) {
  std::map<std::string, ordered_json> by_name;
  for (const auto& [role, spec] : job.spec.roles) {
    if (spec.replicas < 1) continue;
    if (role == Role::kEvaluator && !SeesEvaluator(job, reader)) continue;
    ordered_json& list = by_name[std::string(RoleNameIn(job, role))] = ordered_json::array();
    for (int32_t i = 0; i < spec.replicas; ++i) list.push_back(addresses.Cluster(role, i));
  }
  ordered_json cluster = ordered_json::object();
  for (auto& [name, list] : by_name) cluster[name] = std::move(list);
  return cluster;
}

// enableDynamicWorker: workers may come and go, so nobody is told of the others. A worker knows
// itself and all parameter servers; a parameter server itself, under its own index; chief and
// evaluator themselves and all parameter servers.
ordered_json SparseCluster(const Job& job, const AddressBook& addresses, Role role, int32_t index) {
  const std::string own = addresses.Cluster(role, index);
  const std::string key = std::to_string(index);
  ordered_json cluster = {{"worker", ordered_json::object()}, {"ps", ordered_json::array()}};
  if (role == Role::kPs) {
    // TensorFlow finds entry `index` of a list; only of a map with one entry it finds any index.
    if (index == 0) {
      cluster["ps"].push_back(own);
    } else {
      cluster["ps"] = {{key, own}};
    }
    return cluster;
  }
  const auto ps = job.spec.roles.find(Role::kPs);
  const int32_t servers = ps == job.spec.roles.end() ? 0 : ps->second.replicas;
  for (int32_t i = 0; i < servers; ++i) cluster["ps"].push_back(addresses.Cluster(Role::kPs, i));
  if (role == Role::kWorker) {
    cluster["worker"][key] = own;
  } else if (role == Role::kChief || SeesEvaluator(job, role)) {
    cluster[std::string(RoleNameIn(job, role))] = ordered_json::array({own});
  }
  return cluster;
}

std::string Dump(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// TF_CONFIG around what stands under "cluster" in it.
std::string Around(const std::string& cluster, const Job& job, Role role, int32_t index) {
  ordered_json rest;
  rest["task"] = {{"type", std::string(RoleNameIn(job, role))}, {"index", index}};
  if (!IsSparse(job)) rest["environment"] = "cloud";
  return R"({"cluster":)" + cluster + "," + Dump(rest).substr(1);
}

// Of TF_CONFIG: no text is longer, and few are much shorter.
size_t BytesAtMost(const Job& job, const AddressBook& addresses) {
  constexpr size_t kAroundAnAddress = 3;      // "",
  constexpr size_t kAroundARole = 32;         // Its name, and the brackets of its list.
  constexpr size_t kAroundTheCluster = 128;   // The task and the environment.
  constexpr size_t kPortDigits = 5;           // Of a port of 127.0.0.1 that is still to be found.
  size_t bound = kAroundTheCluster;
  for (const auto& [role, spec] : job.spec.roles) {
    if (spec.replicas < 1) continue;
    // The last one's number is the longest.
    const size_t longest = addresses.Cluster(role, spec.replicas - 1).size() + kPortDigits;
    bound += kAroundARole + static_cast<size_t>(spec.replicas) * (longest + kAroundAnAddress);
  }
  return bound;
}

// Whoever is told of the evaluators where workers are, or not where workers are not.
bool ReadsAsWorkersDo(const Job& job, Role role) {
  return SeesEvaluator(job, role) == SeesEvaluator(job, Role::kWorker);
}

}  // namespace

std::string CommonCluster(const Job& job, const AddressBook& addresses) {
  if (IsSparse(job) || !HasTfConfig(job)) return "";
  return Dump(FullCluster(job, addresses, Role::kWorker));
}

absl::StatusOr<std::string> TfConfig(const Job& job, const AddressBook& addresses, Role role,
                                     int32_t index, const std::string& common_cluster) {
  const auto own_cluster = [&] {
    return Dump(IsSparse(job) ? SparseCluster(job, addresses, role, index)
                              : FullCluster(job, addresses, role));
  };
  const bool common = !common_cluster.empty() && ReadsAsWorkersDo(job, role);
  std::string text = Around(common ? common_cluster : own_cluster(), job, role, index);
  if (text.size() > kTfConfigBytesMax) {
    return absl::InvalidArgumentError(
        "TF_CONFIG of " + std::string(RoleNameIn(job, role)) + "-" + std::to_string(index) +
        " would be " + std::to_string(text.size()) +
        " bytes, and an environment variable holds at most " + std::to_string(kTfConfigBytesMax) +
        ": use fewer replicas or a shorter job name");
  }
  return text;
}

bool SurelyHoldsTfConfig(const Job& job, const AddressBook& addresses) {
  return BytesAtMost(job, addresses) <= kTfConfigBytesMax;
}

std::string SharedCluster(const Job& job, const AddressBook& addresses) {
  // On 127.0.0.1 a replica may get another port any time, and the machine holds few of them.
  if (addresses.loopback()) return "";
  if (BytesAtMost(job, addresses) <= kInlineClusterBytesMax) return "";
  return CommonCluster(job, addresses);
}

bool HasTfConfig(const Job& job) {
  int32_t replicas = 0;
  for (const auto& [role, spec] : job.spec.roles) replicas += spec.replicas;
  return DialectOf(job.kind).tf_config_of_one || replicas != 1;
}

absl::StatusOr<std::vector<EnvVariable>> ReplicaEnvironment(const Job& job, const Ledger& ledger,
                                                            const AddressBook& addresses,
                                                            Role role, int32_t index,
                                                            const ClusterText& cluster) {
  std::vector<EnvVariable> env;
  if (!cluster.config_map.empty() && ReadsAsWorkersDo(job, role)) {
    // The kubelet replaces references to variables that it has seen already.
    const std::string name(kClusterVariable);
    env.push_back(
        {.name = name, .value = std::string(kClusterKey), .config_map = cluster.config_map});
    env.push_back({.name = "TF_CONFIG", .value = Around("$(" + name + ")", job, role, index)});
  } else if (HasTfConfig(job)) {
    ASSIGN_OR_RETURN(std::string tf_config,
                     TfConfig(job, addresses, role, index, cluster.common));
    env.push_back({.name = "TF_CONFIG", .value = std::move(tf_config)});
  }
  const std::string index_text = std::to_string(index);
  const LedgerReplica& replica = ledger.replicas.at(role).at(index);
  const auto add = [&env](std::string_view name, std::string value) {
    env.push_back({.name = std::string(name), .value = std::move(value)});
  };
  add("TAAS_JOB", job.meta.ns + "/" + job.meta.name);
  add("TAAS_JOB_UID", job.meta.uid);
  if (!ledger.token.empty()) {
    env.push_back({.name = std::string(kTokenVariable), .value = ledger.token, .yields = true});
  }
  add("TAAS_ROLE", std::string(RoleName(role)));
  add("TAAS_INDEX", index_text);
  add("TAAS_ATTEMPT", std::to_string(ledger.attempt));
  add("TAAS_POD_NUMBER", std::to_string(replica.pod_number));
  add("TAAS_JOB_NAME", std::string(RoleName(role)));
  add("TAAS_TASK_INDEX", index_text);
  add("TAAS_STATUS_PORT", std::to_string(addresses.StatusPortOf(role, index)));
  for (const auto& [name, listed] :
       {std::pair("TAAS_PS_HOSTS", Role::kPs), std::pair("TAAS_WORKER_HOSTS", Role::kWorker)}) {
    if (!NeedsHostList(job, role, name)) continue;
    add(name, HostList(job, addresses, listed));
  }
  // A sparse TF_CONFIG names the chief to nobody else.
  if (std::string chief = HostList(job, addresses, Role::kChief); !chief.empty()) {
    add("TAAS_CHIEF_HOSTS", std::move(chief));
  }
  if (!job.spec.bundled_trainer) return env;
  add(kTrainerVariable, job.spec.trainer.config);
  const auto workers = job.spec.roles.find(Role::kWorker);
  if (workers != job.spec.roles.end() && workers->second.elastic.has_value()) {
    const ElasticSpec& bounds = *workers->second.elastic;
    add("TAAS_ELASTIC_WORKERS", std::to_string(bounds.min_replicas) + ":" +
                                    std::to_string(bounds.max_replicas));
  }
  return env;
}

}  // namespace taas
