#include "operator/plan/address_scheme.h"

#include "operator/api/defaults.h"

namespace taas {

const LedgerReplica* AddressBook::Find(Role role, int32_t index) const {
  const auto of_role = ledger_.replicas.find(role);
  if (of_role == ledger_.replicas.end()) return nullptr;
  const auto found = of_role->second.find(index);
  return found == of_role->second.end() ? nullptr : &found->second;
}

int32_t AddressBook::ClusterPortOf(Role role, int32_t index) const {
  if (!loopback()) return kTrainerPort;
  const LedgerReplica* replica = Find(role, index);
  return replica == nullptr ? 0 : replica->port;
}

int32_t AddressBook::StatusPortOf(Role role, int32_t index) const {
  if (!loopback()) return kStatusPort;
  const LedgerReplica* replica = Find(role, index);
  return replica == nullptr ? 0 : replica->status_port;
}

std::string AddressBook::Cluster(Role role, int32_t index) const {
  const std::string port = std::to_string(ClusterPortOf(role, index));
  if (loopback()) return "127.0.0.1:" + port;
  std::string host = PodName(job_.meta.name, role, index) + "." + job_.meta.name + "." +
                     job_.meta.ns + ".svc";
  if (!options_.cluster_domain.empty()) host += "." + options_.cluster_domain;
  return host + ":" + port;
}

}  // namespace taas
