#include "operator/plan/address_scheme.h"

#include "operator/api/defaults.h"
#include "operator/api/dialect.h"

namespace taas {

bool HasServicePerReplica(const Job& job, const AddressOptions& options) {
  return options.scheme == AddressScheme::kDns && DialectOf(job.kind).service_per_replica &&
         !options.service_per_job;
}

const LedgerReplica* AddressBook::Find(Role role, int32_t index) const {
  const auto of_role = ledger_.replicas.find(role);
  if (of_role == ledger_.replicas.end()) return nullptr;
  const auto found = of_role->second.find(index);
  return found == of_role->second.end() ? nullptr : &found->second;
}

int32_t AddressBook::ClusterPortOf(Role role, int32_t index) const {
  if (!loopback()) {
    const auto role_spec = job_.spec.roles.find(role);
    const bool declared = role_spec != job_.spec.roles.end() && role_spec->second.port != 0;
    return declared ? role_spec->second.port : job_.spec.port;
  }
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
  std::string host = PodName(job_, role, index) + ".";
  if (!HasServicePerReplica(job_, options_)) host += job_.meta.name + ".";
  host += job_.meta.ns + ".svc";
  if (!options_.cluster_domain.empty()) host += "." + options_.cluster_domain;
  return host + ":" + port;
}

}  // namespace taas
