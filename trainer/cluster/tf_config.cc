#include "trainer/cluster/tf_config.h"

#include <algorithm>

#include "nlohmann/json.hpp"
#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/comm/channel.h"

namespace taas {
namespace {

using Json = nlohmann::json;

constexpr const char* kRoles = "chief, ps, worker";

absl::Status Bad(const std::string& what) {
  return absl::InvalidArgumentError("TF_CONFIG: " + what);
}

bool IsTraining(const std::string& role) { return role == "chief" || role == "worker"; }

absl::Status Check(const ClusterSpec& cluster) {
  std::map<std::string, std::string> seen;
  for (const auto& [role, addresses] : cluster.addresses) {
    for (size_t i = 0; i < addresses.size(); ++i) {
      const std::string name = role + "-" + std::to_string(i);
      const auto split = comm::SplitAddress(addresses[i]);
      if (!split.ok()) {
        return Bad("address of " + name + ": " + std::string(split.status().message()));
      }
      const auto [other, added] = seen.emplace(addresses[i], name);
      if (!added) {
        return Bad("duplicate address " + addresses[i] + " of " + other->second + " and " + name);
      }
    }
  }
  if (cluster.count("chief") > 1) {
    return Bad("there are " + std::to_string(cluster.count("chief")) +
               " chiefs; a job has at most one");
  }
  if (cluster.training_replicas().empty()) return Bad("the cluster has neither chief nor worker");
  const int count = cluster.count(cluster.self.role);
  if (cluster.self.index < 0 || cluster.self.index >= count) {
    return Bad("task index " + std::to_string(cluster.self.index) +
               " is out of range: the cluster has " + std::to_string(count) + " of role " +
               cluster.self.role);
  }
  return absl::OkStatus();
}

absl::Status ReadCluster(const Json& json, ClusterSpec* cluster) {
  const auto found = json.find("cluster");
  if (found == json.end() || !found->is_object()) return Bad("there is no object \"cluster\"");
  for (const auto& [name, hosts] : found->items()) {
    // TensorFlow 1 called the chief master.
    const std::string role = name == "master" ? "chief" : name;
    if (!IsTraining(role) && role != "ps") {
      return Bad("unknown role \"" + name + "\" in the cluster; known are " + kRoles);
    }
    if (!hosts.is_array()) return Bad("cluster." + name + " is not a list of addresses");
    for (const Json& host : hosts) {
      if (!host.is_string()) return Bad("cluster." + name + " holds " + host.dump());
      cluster->addresses[role].push_back(host.get<std::string>());
    }
  }
  return absl::OkStatus();
}

absl::Status ReadTask(const Json& json, ClusterSpec* cluster) {
  const auto task = json.find("task");
  if (task == json.end() || !task->is_object()) return Bad("there is no object \"task\"");
  const auto type = task->find("type");
  if (type == task->end() || !type->is_string()) return Bad("task.type is missing");
  const auto index = task->find("index");
  if (index == task->end() || !index->is_number_integer()) {
    return Bad("task.index is missing or not a whole number");
  }
  const std::string role = *type == "master" ? "chief" : type->get<std::string>();
  if (!IsTraining(role) && role != "ps") {
    return Bad("unknown task.type \"" + role + "\"; known are " + kRoles);
  }
  const int64_t wide = index->get<int64_t>();
  cluster->self = {role, static_cast<int>(std::clamp<int64_t>(wide, -1, 1 << 30))};
  return absl::OkStatus();
}

std::vector<std::string> SplitHosts(const std::string& hosts) {
  std::vector<std::string> list;
  for (size_t at = 0; at < hosts.size();) {
    const size_t comma = std::min(hosts.find(',', at), hosts.size());
    if (comma > at) list.push_back(hosts.substr(at, comma - at));
    at = comma + 1;
  }
  return list;
}

}  // namespace

int ClusterSpec::count(const std::string& role) const {
  const auto found = addresses.find(role);
  return found == addresses.end() ? 0 : static_cast<int>(found->second.size());
}

size_t ClusterSpec::size() const {
  size_t all = 0;
  for (const auto& [role, list] : addresses) all += list.size();
  return all;
}

const std::string& ClusterSpec::address(const ReplicaId& replica) const {
  CHECK(replica.index >= 0 && replica.index < count(replica.role)) << replica.name();
  return addresses.at(replica.role)[static_cast<size_t>(replica.index)];
}

ReplicaId ClusterSpec::chief() const {
  return count("chief") > 0 ? ReplicaId{"chief", 0} : ReplicaId{"worker", 0};
}

std::vector<ReplicaId> ClusterSpec::training_replicas() const {
  std::vector<ReplicaId> replicas;
  for (const char* role : {"chief", "worker"}) {
    for (int i = 0; i < count(role); ++i) replicas.push_back({role, i});
  }
  return replicas;
}

int ClusterSpec::rank(const ReplicaId& replica) const {
  if (!IsTraining(replica.role)) return -1;
  return replica.role == "chief" ? 0 : count("chief") + replica.index;
}

bool ClusterSpec::on_loopback() const {
  const auto split = comm::SplitAddress(address(self));
  if (!split.ok()) return false;
  const std::string& host = split->first;
  return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0;
}

absl::StatusOr<ClusterSpec> ParseTfConfig(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return Bad("not JSON");
  if (!json.is_object()) return Bad("not an object");
  ClusterSpec cluster;
  RETURN_IF_ERROR(ReadCluster(json, &cluster));
  RETURN_IF_ERROR(ReadTask(json, &cluster));
  RETURN_IF_ERROR(Check(cluster));
  return cluster;
}

absl::StatusOr<ClusterSpec> ClusterFromHosts(const std::string& ps_hosts,
                                             const std::string& worker_hosts,
                                             const std::string& job_name, int task_index) {
  ClusterSpec cluster;
  if (!ps_hosts.empty()) cluster.addresses["ps"] = SplitHosts(ps_hosts);
  if (!worker_hosts.empty()) cluster.addresses["worker"] = SplitHosts(worker_hosts);
  if (job_name != "ps" && job_name != "worker") {
    return absl::InvalidArgumentError("--job_name must be ps or worker, is \"" + job_name + "\"");
  }
  cluster.self = {job_name, task_index};
  const absl::Status status = Check(cluster);
  if (!status.ok()) return Annotate(status, "--ps_hosts, --worker_hosts, --task_index");
  return cluster;
}

}  // namespace taas
