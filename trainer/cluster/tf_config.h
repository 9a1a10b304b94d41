// TF_CONFIG: who is in the cluster and which of them this process is.
//
// The bootstrap only: a replica needs the chief's address from it and gets its peers from the
// chief. Three forms are read: the list of each role, the sparse form that names single tasks by
// their index (a job with dynamic workers), and the classic lists of hosts.
//
// Who is not part of the cluster: an evaluator, which needs nobody's address and whose own entry is
// optional, and a process without any cluster, which trains alone.
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

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taas {

struct ReplicaId {
  std::string role;  // "chief", "ps", "worker", "evaluator".
  int index = 0;

  std::string name() const { return role + "-" + std::to_string(index); }
  auto operator<=>(const ReplicaId&) const = default;
};

struct ClusterSpec {
  // By role, then index. "" where the sparse form names no address. Evaluators are not here.
  std::map<std::string, std::vector<std::string>> addresses;
  ReplicaId self;
  std::string evaluator_address;  // Of this process, if it is an evaluator that is listed.
  bool sparse = false;            // Some of the others are not named.

  int count(const std::string& role) const;
  size_t size() const;  // All replicas but evaluators.
  // "" if it is not known: of an evaluator, of a process without cluster.
  std::string self_address() const;
  const std::string& address(const ReplicaId& replica) const;
  // The chief, or worker 0 where there is no chief role.
  ReplicaId chief() const;
  // Chief first, then the workers in order.
  std::vector<ReplicaId> training_replicas() const;
  // The place of `replica` among those, also of a worker that is not listed; -1 for a ps.
  int rank(const ReplicaId& replica) const;
  // This process is the whole cluster, or there is none: it trains alone and starts no server.
  bool alone() const;
  // Whether this process's own address, else every address, is a loopback one: then it listens
  // there only.
  bool on_loopback() const;
};

absl::StatusOr<ClusterSpec> ParseTfConfig(std::string_view json);

// The classic flags: --ps_hosts=a:1,b:1 --worker_hosts=c:1 --job_name=worker --task_index=0.
struct ClassicHosts {
  std::string chief_hosts;
  std::string ps_hosts;
  std::string worker_hosts;
  std::string job_name;  // Also "master", the old name of the chief.
  int task_index = 0;
};
absl::StatusOr<ClusterSpec> ClusterFromHosts(const ClassicHosts& hosts);

// The sparse form shows a ps nobody else and a worker the parameter servers only. Takes the address
// of the chief from the classic list of chiefs; where that is empty worker 0 is the chief, whose
// address is in the classic list of workers or follows from the name that an operator gives it:
// mnist-worker-3.ns.svc:2222 has its chief at mnist-worker-0.ns.svc:2222. Of `listed` the rest is
// not read; a cluster of the full form stays as it is.
absl::Status CompleteSparse(const ClassicHosts& listed, ClusterSpec* cluster);

}  // namespace taas

#endif  // TRAINER_CLUSTER_TF_CONFIG_H_
