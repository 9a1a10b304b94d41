#include "operator/plan/flaw.h"

#include <algorithm>

#include "operator/api/defaults.h"
#include "operator/api/dialect.h"
#include "operator/api/ledger_size.h"
#include "operator/plan/budget.h"
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

int32_t ReplicasOf(const JobSpec& spec, Role role) {
  const auto found = spec.roles.find(role);
  return found == spec.roles.end() ? 0 : found->second.replicas;
}

// Replicas that were scaled away keep their entries.
LedgerShape ShapeOf(const Job& job, AddressScheme scheme) {
  LedgerShape shape;
  shape.ports = scheme == AddressScheme::kLoopback;
  for (const Role role : {Role::kChief, Role::kPs, Role::kWorker, Role::kEvaluator}) {
    const int32_t replicas = std::max(job.ledger.has_value() ? BegunOf(*job.ledger, role) : 0,
                                      ReplicasOf(job.spec, role));
    if (replicas == 0) continue;
    shape.replicas[role] = replicas;
    // Of those of a role all but the first are alike, and the larger entry counts.
    shape.dispensable[role] = IsDispensable(job, role, replicas - 1);
  }
  return shape;
}

// Of a job that has begun only what an edit would add.
bool AddsReplicas(const Job& job) {
  if (!job.ledger.has_value()) return true;
  for (const auto& [role, spec] : job.spec.roles) {
    if (spec.replicas > BegunOf(*job.ledger, role)) return true;
  }
  return false;
}

// Why nothing can hold all that has to be told and remembered of so many replicas; empty: it can.
// Whatever happens to them later, the ledger has to fit: a job whose ledger is refused stands
// still.
std::string WhyTooLarge(const Job& job, const Ledger& ledger, const AddressOptions& options) {
  const auto main = MainReplica(job.spec);
  if (!main.has_value()) return "";
  const AddressBook addresses(job, ledger, options);
  if (!SurelyHoldsTfConfig(job, addresses)) {
    const auto tf_config = TfConfig(job, addresses, main->first, main->second);
    if (!tf_config.ok()) return std::string(tf_config.status().message());
  }
  if (!AddsReplicas(job)) return "";
  const size_t room = LedgerRoom(job);
  const size_t bytes = LedgerBytesMax(ShapeOf(job, options.scheme));
  if (bytes <= room) return "";
  return "what is remembered of the job's replicas, in its annotation " +
         std::string(kLedgerAnnotation) + ", could grow to " + std::to_string(bytes) +
         " bytes, and of the " + std::to_string(kAnnotationBytesMax) +
         " that all annotations of an object have the others leave " + std::to_string(room) +
         ": use fewer replicas";
}

std::optional<Flaw> FindSizeFlaw(LedgerDraft& draft) {
  const AddressOptions& options = draft.now().addresses;
  const std::string why = WhyTooLarge(draft.job(), draft.ledger(), options);
  if (why.empty()) return std::nullopt;
  Job smaller = draft.job();
  const auto most = std::max_element(
      smaller.spec.roles.begin(), smaller.spec.roles.end(),
      [](const auto& a, const auto& b) { return a.second.replicas < b.second.replicas; });
  int32_t fit = 0;
  const int32_t wanted = most->second.replicas;
  for (int32_t too_many = wanted; too_many - fit > 1;) {
    const int32_t middle = fit + (too_many - fit) / 2;
    most->second.replicas = middle;
    (WhyTooLarge(smaller, draft.ledger(), options).empty() ? fit : too_many) = middle;
  }
  // Its other annotations leave no room: that has nothing to do with their number.
  if (fit == 0) return std::nullopt;
  return Flaw{"TooManyReplicas", why + " (" + std::to_string(fit) + " of role " +
                                     std::string(RoleNameIn(draft.job(), most->first)) +
                                     " fit, and " + std::to_string(wanted) + " are asked for)"};
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
  return FindSizeFlaw(draft);
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
