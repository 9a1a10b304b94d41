#include "trainer/cluster/tf_config.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/comm/channel.h"
#include "trainer/config/json_text.h"

namespace taas {
namespace {

using Json = nlohmann::json;

constexpr const char* kRoles = "chief (or master, its old name), worker, ps, evaluator";
// Of a value that is quoted in a message.
constexpr size_t kShownBytes = 100;
// An index of the sparse form makes a list of that length.
constexpr int64_t kIndexMax = 100'000;

absl::Status Bad(const std::string& what) {
  return absl::InvalidArgumentError("TF_CONFIG: " + what);
}

std::string Shown(const Json& value) {
  return value.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, kShownBytes);
}

bool IsTraining(const std::string& role) { return role == "chief" || role == "worker"; }

bool IsRole(const std::string& role) {
  return IsTraining(role) || role == "ps" || role == "evaluator";
}

// TensorFlow 1 called the chief master.
std::string RoleOf(const std::string& name) { return name == "master" ? "chief" : name; }

absl::Status CheckAddresses(const ClusterSpec& cluster) {
  std::map<std::string, std::string> seen;
  for (const auto& [role, addresses] : cluster.addresses) {
    for (size_t i = 0; i < addresses.size(); ++i) {
      const std::string name = role + "-" + std::to_string(i);
      if (addresses[i].empty()) continue;  // Not named by the sparse form.
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
  return absl::OkStatus();
}

absl::Status Check(const ClusterSpec& cluster) {
  RETURN_IF_ERROR(CheckAddresses(cluster));
  const ReplicaId& self = cluster.self;
  if (cluster.count("chief") > 1) {
    return Bad("there are " + std::to_string(cluster.count("chief")) +
               " chiefs; a job has at most one");
  }
  if (self.role == "evaluator") {
    return self.index >= 0 ? absl::OkStatus() : Bad("task.index must not be negative");
  }
  if (cluster.training_replicas().empty() && !cluster.sparse) {
    return Bad("the cluster has neither chief nor worker");
  }
  const int count = cluster.count(self.role);
  if (self.index < 0 || self.index >= count || cluster.address(self).empty()) {
    return Bad("task index " + std::to_string(self.index) + " is out of range: the cluster has " +
               std::to_string(count) + " of role " + self.role);
  }
  return absl::OkStatus();
}

// One role of the cluster: a list of addresses, or an object from index to address.
absl::Status ReadRole(const std::string& name, const Json& hosts, std::vector<std::string>* list) {
  if (hosts.is_array()) {
    for (const Json& host : hosts) {
      if (!host.is_string()) return Bad("cluster." + name + " holds " + Shown(host));
      list->push_back(host.get<std::string>());
    }
    return absl::OkStatus();
  }
  if (!hosts.is_object()) {
    return Bad("cluster." + name + " is neither a list of addresses nor an object of index and "
               "address");
  }
  for (const auto& [key, host] : hosts.items()) {
    int64_t index = -1;
    const char* const end = key.data() + key.size();
    const auto [rest, error] = std::from_chars(key.data(), end, index);
    if (error != std::errc() || rest != end || index < 0 || index > kIndexMax) {
      return Bad("cluster." + name + " has the key \"" + key + "\", which is no task index");
    }
    if (!host.is_string()) return Bad("cluster." + name + " holds " + Shown(host));
    if (list->size() <= static_cast<size_t>(index)) list->resize(static_cast<size_t>(index) + 1);
    (*list)[static_cast<size_t>(index)] = host.get<std::string>();
  }
  return absl::OkStatus();
}

absl::Status ReadCluster(const Json& json, ClusterSpec* cluster,
                         std::vector<std::string>* evaluators) {
  if (!json.is_object()) return Bad("\"cluster\" is not an object of roles and addresses");
  for (const auto& [name, hosts] : json.items()) {
    const std::string role = RoleOf(name);
    if (!IsRole(role)) {
      return Bad("unknown role \"" + name + "\" in the cluster; supported are " + kRoles);
    }
    if (role == "chief" && cluster->count("chief") > 0) {
      return Bad("the cluster has both a chief and a master, which is its old name");
    }
    std::vector<std::string> list;
    RETURN_IF_ERROR(ReadRole(name, hosts, &list));
    if (role == "evaluator") *evaluators = std::move(list);
    else if (!list.empty()) cluster->addresses[role] = std::move(list);
  }
  return absl::OkStatus();
}

// The sparse form: some role is an object from index to address, which may be empty.
bool NamesSingleTasks(const Json& cluster) {
  return std::any_of(cluster.begin(), cluster.end(),
                     [](const Json& hosts) { return hosts.is_object(); });
}

// As TensorFlow takes it: a number, or a text of one. A writer that leaves zeroes out says nothing
// of task 0, and TensorFlow's default is 0 too.
absl::StatusOr<int64_t> IndexOf(const Json& task) {
  const auto index = task.find("index");
  if (index == task.end()) return 0;
  if (index->is_number_unsigned() && index->get<uint64_t>() > uint64_t{INT64_MAX}) return INT64_MAX;
  if (index->is_number_integer()) return index->get<int64_t>();
  int64_t number = 0;
  if (index->is_string()) {
    const std::string& text = index->get_ref<const std::string&>();
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && rest == end) return number;
  }
  return Bad("task.index must be a whole number, is " + Shown(*index));
}

absl::Status ReadTask(const Json& json, ReplicaId* self) {
  const auto task = json.find("task");
  if (task == json.end() || !task->is_object()) return Bad("there is no object \"task\"");
  const auto type = task->find("type");
  if (type == task->end() || !type->is_string()) {
    return Bad("task.type is missing: with a cluster each process must say which task it is");
  }
  ASSIGN_OR_RETURN(const int64_t wide, IndexOf(*task));
  const std::string role = RoleOf(type->get<std::string>());
  if (role == "local") {
    return Bad("task.type must not be \"local\" where there is a cluster: leave TF_CONFIG out to "
               "train in one process");
  }
  if (!IsRole(role)) return Bad("unknown task.type \"" + role + "\"; supported are " + kRoles);
  *self = {role, static_cast<int>(std::clamp<int64_t>(wide, -1, 1 << 30))};
  return absl::OkStatus();
}

// Without a cluster only a process that needs no other is possible.
absl::StatusOr<ClusterSpec> WithoutCluster(const Json& json) {
  ClusterSpec cluster;
  cluster.self = {"worker", 0};
  if (!json.contains("task")) return cluster;
  RETURN_IF_ERROR(ReadTask(json, &cluster.self));
  const bool trains_alone = IsTraining(cluster.self.role) && cluster.self.index == 0;
  if (trains_alone || (cluster.self.role == "evaluator" && cluster.self.index >= 0)) return cluster;
  return Bad("there is no \"cluster\", so the task can only be worker 0, chief 0 or an evaluator, "
             "is " + cluster.self.name());
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

bool IsLoopback(const std::string& address) {
  const auto split = comm::SplitAddress(address);
  if (!split.ok()) return false;
  const std::string& host = split->first;
  return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0;
}

// Where the operator's naming puts worker 0, seen from the address of `self`.
std::optional<std::string> NameOfWorkerZero(const ReplicaId& self, const std::string& address) {
  const std::string mine = "-" + self.name();
  const size_t at = address.find(mine + ".");
  const size_t found = at != std::string::npos ? at : address.find(mine + ":");
  if (found == std::string::npos) return std::nullopt;
  return address.substr(0, found) + "-worker-0" + address.substr(found + mine.size());
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

std::string ClusterSpec::self_address() const {
  if (self.role == "evaluator") return evaluator_address;
  return self.index < count(self.role) ? address(self) : "";
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

bool ClusterSpec::alone() const {
  return IsTraining(self.role) && size() == static_cast<size_t>(count(self.role)) &&
         count(self.role) <= 1;
}

bool ClusterSpec::on_loopback() const {
  if (const std::string own = self_address(); !own.empty()) return IsLoopback(own);
  bool all = size() > 0;
  for (const auto& [role, list] : addresses) {
    for (const std::string& address : list) all = all && (address.empty() || IsLoopback(address));
  }
  return all;
}

absl::StatusOr<ClusterSpec> ParseTfConfig(std::string_view text) {
  ASSIGN_OR_RETURN(const Json json, ParseJsonText(text, "TF_CONFIG"));
  if (!json.is_object()) return Bad("not an object");
  // A job with dynamic workers has this form under either key.
  const bool sparse_key = json.contains("sparseCluster");
  const auto found = json.find(sparse_key ? "sparseCluster" : "cluster");
  if (found == json.end() || (found->is_object() && found->empty())) return WithoutCluster(json);
  ClusterSpec cluster;
  std::vector<std::string> evaluators;
  RETURN_IF_ERROR(ReadCluster(*found, &cluster, &evaluators));
  RETURN_IF_ERROR(ReadTask(json, &cluster.self));
  const ReplicaId& self = cluster.self;
  if (self.role == "evaluator" && self.index >= 0 &&
      self.index < static_cast<int>(evaluators.size())) {
    cluster.evaluator_address = evaluators[static_cast<size_t>(self.index)];
  }
  cluster.sparse = sparse_key || NamesSingleTasks(*found);
  RETURN_IF_ERROR(Check(cluster));
  return cluster;
}

absl::StatusOr<ClusterSpec> ClusterFromHosts(const ClassicHosts& hosts) {
  ClusterSpec cluster;
  const auto add = [&](const char* role, const std::string& text) {
    std::vector<std::string> list = SplitHosts(text);
    if (!list.empty()) cluster.addresses[role] = std::move(list);
  };
  add("chief", hosts.chief_hosts);
  add("ps", hosts.ps_hosts);
  add("worker", hosts.worker_hosts);
  const std::string role = RoleOf(hosts.job_name);
  if (!IsRole(role)) {
    return absl::InvalidArgumentError("--job_name is \"" + hosts.job_name + "\"; supported are " +
                                      kRoles);
  }
  cluster.self = {role, hosts.task_index};
  const absl::Status status = Check(cluster);
  if (!status.ok()) {
    // The sentence is that of the same mistake in TF_CONFIG.
    std::string text(status.message());
    if (text.rfind("TF_CONFIG: ", 0) == 0) text = text.substr(std::string("TF_CONFIG: ").size());
    return absl::InvalidArgumentError("--ps_hosts, --worker_hosts, --job_name, --task_index: " +
                                      text);
  }
  return cluster;
}

absl::Status CompleteSparse(const ClassicHosts& listed, ClusterSpec* cluster) {
  const ReplicaId& self = cluster->self;
  if (!cluster->sparse || self.role == "evaluator" || cluster->count("chief") > 0) {
    return absl::OkStatus();
  }
  // Before worker 0 is looked for: beside a chief it leads nothing.
  if (std::vector<std::string> chiefs = SplitHosts(listed.chief_hosts); !chiefs.empty()) {
    cluster->addresses["chief"] = std::move(chiefs);
    return Check(*cluster);
  }
  if (cluster->count("worker") > 0 && !cluster->address({"worker", 0}).empty()) {
    return absl::OkStatus();
  }
  const std::vector<std::string> hosts = SplitHosts(listed.worker_hosts);
  std::optional<std::string> chief;
  if (!hosts.empty()) chief = hosts[0];
  else chief = NameOfWorkerZero(self, cluster->self_address());
  if (!chief) {
    return Bad("the sparse cluster of " + self.name() + " does not name worker 0, which leads the "
               "training, and its address cannot be told from " + cluster->self_address() +
               "; set TAAS_WORKER_HOSTS, or TAAS_CHIEF_HOSTS where there is a chief");
  }
  std::vector<std::string>& workers = cluster->addresses["worker"];
  if (workers.empty()) workers.resize(1);
  workers[0] = *chief;
  return absl::OkStatus();
}

}  // namespace taas
