// TF_CONFIG: who is in the cluster and which of them this process is.
//
// The bootstrap only: a replica needs the chief's address from it and gets its peers from the
// chief.
//
// Ownership: value type. Threads: any. Errors: InvalidArgument with a sentence that says what is
// wrong with which part of TF_CONFIG.
//
//   ASSIGN_OR_RETURN(ClusterSpec cluster, ParseTfConfig(getenv("TF_CONFIG")));
//   if (cluster.self == cluster.chief()) ...

#ifndef TRAINER_CLUSTER_TF_CONFIG_H_
#define TRAINER_CLUSTER_TF_CONFIG_H_

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taas {

struct ReplicaId {
  std::string role;  // "chief", "ps", "worker".
  int index = 0;

  std::string name() const { return role + "-" + std::to_string(index); }
  auto operator<=>(const ReplicaId&) const = default;
};

struct ClusterSpec {
  std::map<std::string, std::vector<std::string>> addresses;  // By role, then index.
  ReplicaId self;

  int count(const std::string& role) const;
  size_t size() const;  // All replicas.
  const std::string& address(const ReplicaId& replica) const;
  // The chief, or worker 0 where there is no chief role.
  ReplicaId chief() const;
  // Chief first, then the workers in order.
  std::vector<ReplicaId> training_replicas() const;
  // The place of `replica` among those, also of a worker that is not listed; -1 for a ps.
  int rank(const ReplicaId& replica) const;
  // Whether this process's own address is a loopback one: then it listens there only.
  bool on_loopback() const;
};

absl::StatusOr<ClusterSpec> ParseTfConfig(std::string_view json);

// From the classic flags: --ps_hosts=a:1,b:1 --worker_hosts=c:1 --job_name=worker --task_index=0.
absl::StatusOr<ClusterSpec> ClusterFromHosts(const std::string& ps_hosts,
                                             const std::string& worker_hosts,
                                             const std::string& job_name, int task_index);

}  // namespace taas

#endif  // TRAINER_CLUSTER_TF_CONFIG_H_
