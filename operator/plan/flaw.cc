#include "operator/plan/flaw.h"

#include <algorithm>

#include "operator/api/defaults.h"
#include "operator/plan/tf_config.h"

namespace taas {
namespace {

int32_t BegunOf(const Ledger& ledger, Role role) {
  const auto found = ledger.replicas.find(role);
  return found == ledger.replicas.end() ? 0 : static_cast<int32_t>(found->second.size());
}

// Of a job whose edit took away all that trains: what status still tells of it.
int32_t LastDesired(const Job& job, Role role) {
  const int32_t begun = BegunOf(*job.ledger, role);
  if (job.status.replica_statuses.empty()) return begun;
  const auto found = job.status.replica_statuses.find(role);
  return found == job.status.replica_statuses.end() ? 0 : std::min(begun, found->second.desired);
}

}  // namespace

std::optional<Flaw> FindFlaw(LedgerDraft& draft) {
  const Job& job = draft.job();
  const auto main = MainReplica(job.spec);
  if (!main.has_value()) {
    return Flaw{"InvalidSpec",
                "the job has neither a chief nor a worker, so nothing would train: add one"};
  }
  for (const ReplicaView& view : draft.views()) {
    if (!view.wanted || view.name.size() <= size_t{kMaxDnsLabel}) continue;
    return Flaw{"NameTooLong", "the pod name " + view.name + " has " +
                                   std::to_string(view.name.size()) +
                                   " characters and a hostname has at most " +
                                   std::to_string(kMaxDnsLabel) + ": give the job a shorter name"};
  }
  const AddressBook addresses(job, draft.ledger(), draft.now().addresses);
  if (SurelyHoldsTfConfig(job, addresses)) return std::nullopt;
  const auto tf_config = TfConfig(job, addresses, main->first, main->second);
  if (!tf_config.ok()) {
    return Flaw{"TooManyReplicas", std::string(tf_config.status().message())};
  }
  return std::nullopt;
}

Snapshot AsBegun(const Snapshot& snapshot) {
  Snapshot begun = snapshot;
  if (!snapshot.job.ledger.has_value()) return begun;
  std::map<Role, RoleSpec>& roles = begun.job.spec.roles;
  if (!MainReplica(begun.job.spec).has_value()) {
    for (const Role role : {Role::kChief, Role::kWorker}) {
      if (const int32_t last = LastDesired(snapshot.job, role); last > 0) {
        roles[role].replicas = last;
      }
    }
  }
  for (auto& [role, spec] : roles) {
    spec.replicas = std::min(spec.replicas, BegunOf(*snapshot.job.ledger, role));
  }
  return begun;
}

}  // namespace taas
