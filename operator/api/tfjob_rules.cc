#include "operator/api/tfjob_rules.h"

#include <map>
#include <optional>
#include <string>

#include "operator/api/defaults.h"
#include "operator/api/ended_job_rule.h"
#include "operator/api/tfjob_spec_codec.h"
#include "operator/base/closest_name.h"

namespace taas {
namespace {

using Json = nlohmann::json;

constexpr char kUnchangeable[] = "may not change while the job exists";
constexpr char kSpecs[] = "spec.tfReplicaSpecs";

// Every key with its role; what is not a role is left out.
std::vector<TfRole> RolesIn(const Json& specs) {
  std::vector<TfRole> roles;
  for (const auto& [key, ignored] : specs.items()) {
    if (const std::optional<TfRole> role = TfRoleFromKey(key)) roles.push_back(*role);
  }
  return roles;
}

bool IsChief(const std::string& key) {
  const std::optional<TfRole> role = TfRoleFromKey(key);
  return role.has_value() && role->role == Role::kChief;
}

bool NameFitsPods(const Json& self, const Json*) {
  const Json& name = ValueAt(self, {"metadata", "name"});
  // A server makes the name from generateName before it checks the rules.
  if (!name.is_string()) return true;
  for (const auto& [key, role] : ValueAt(self, {"spec", "tfReplicaSpecs"}).items()) {
    const int64_t replicas = NumberAt(role, {"replicas"});
    if (replicas < 1) continue;
    const size_t length = name.get_ref<const std::string&>().size() + key.size() + 2 +
                          std::to_string(replicas - 1).size();
    if (length > static_cast<size_t>(kMaxDnsLabel)) return false;
  }
  return true;
}

bool MinAvailableFits(const Json& self, const Json*) {
  int64_t total = 0;
  for (const auto& [key, role] : ValueAt(self, {"tfReplicaSpecs"}).items()) {
    total += NumberAt(role, {"replicas"});
  }
  return NumberAt(self, {"runPolicy", "schedulingPolicy", "minAvailable"}) <= total;
}

bool ManagedByStays(const Json& self, const Json* old) {
  return old == nullptr || ValueAt(self, {"runPolicy"}).contains("managedBy") ==
                               ValueAt(*old, {"runPolicy"}).contains("managedBy");
}

// What becomes of the rest may change: how long the job stays, and which of its pods.
bool EndedJobStays(const Json& self, const Json* old) {
  if (!HasEnded(old)) return true;
  if (ValueAt(self, {"spec", "runPolicy", "suspend"}) == true &&
      ValueAt(*old, {"spec", "runPolicy", "suspend"}) != true) {
    return false;
  }
  return ValueAt(self, {"spec", "tfReplicaSpecs"}) == ValueAt(*old, {"spec", "tfReplicaSpecs"});
}

bool KeysAreRoles(const Json& self, const Json*) { return RolesIn(self).size() == self.size(); }

// Of the first key that is none.
std::string RoleMeant(const Json& self) {
  for (const auto& [key, ignored] : self.items()) {
    if (TfRoleFromKey(key).has_value()) continue;
    const std::string meant = DidYouMean(key, {"PS", "Worker", "Chief", "Master", "Evaluator"});
    return "\"" + key + "\" is none" + (meant.empty() ? "" : ": " + meant);
  }
  return "";
}

bool EachRoleOnce(const Json& self, const Json*) {
  std::map<std::pair<Role, bool>, int> seen;
  for (const TfRole& role : RolesIn(self)) {
    if (++seen[{role.role, role.master}] > 1) return false;
  }
  return true;
}

bool OneChiefRole(const Json& self, const Json*) {
  int chiefs = 0;
  for (const auto& [key, ignored] : self.items()) chiefs += IsChief(key) ? 1 : 0;
  return chiefs <= 1;
}

bool OneChief(const Json& self, const Json*) {
  for (const auto& [key, role] : self.items()) {
    if (IsChief(key) && NumberAt(role, {"replicas"}) > 1) return false;
  }
  return true;
}

bool SomebodyTrains(const Json& self, const Json*) {
  for (const auto& [key, spec] : self.items()) {
    const std::optional<TfRole> role = TfRoleFromKey(key);
    const bool trains =
        role.has_value() && (role->role == Role::kChief || role->role == Role::kWorker);
    if (trains && NumberAt(spec, {"replicas"}) > 0) return true;
  }
  return false;
}

// A chief that becomes a master would get pods of other names.
bool SameRoles(const Json& self, const Json* old) {
  if (old == nullptr) return true;
  std::map<std::pair<Role, bool>, int> sides;
  for (const TfRole& role : RolesIn(self)) sides[{role.role, role.master}] |= 1;
  for (const TfRole& role : RolesIn(*old)) sides[{role.role, role.master}] |= 2;
  for (const auto& [role, side] : sides) {
    if (side != 3) return false;
  }
  return true;
}

bool HasTensorFlowContainer(const Json& self, const Json*) {
  for (const Json& container : ValueAt(self, {"template", "spec", "containers"})) {
    if (ValueAt(container, {"name"}) == "tensorflow") return true;
  }
  return false;
}

bool Unchanged(const Json& self, const Json* old) { return old == nullptr || self == *old; }

}  // namespace

const std::vector<RuleTwin>& TfJobRules() {
  static const std::vector<RuleTwin> rules = {
      {"", "the name is too long for pods NAME-ROLE-N, which have at most 63 characters",
       ".metadata.name", NameFitsPods},
      {"", std::string(kEndedJobStays), ".spec", EndedJobStays},
      {"spec", "more than the job has replicas", ".runPolicy.schedulingPolicy.minAvailable",
       MinAvailableFits},
      {"spec", kUnchangeable, ".runPolicy.managedBy", ManagedByStays},
      {"spec.runPolicy.managedBy", kUnchangeable, "", Unchanged},
      {"spec.runPolicy.schedulingPolicy.queue",
       "spec.runPolicy.schedulingPolicy.queue is immutable", "", Unchanged},
      {kSpecs, "the roles are PS, Worker, Chief, Master and Evaluator", "", KeysAreRoles, nullptr,
       RoleMeant},
      {kSpecs, "two keys are the same role", "", EachRoleOnce},
      {kSpecs, "must not have more than 1 Chief or Master role", "", OneChiefRole},
      {kSpecs, "a Chief or Master has at most one replica", "", OneChief},
      {kSpecs, "at least one training replica is needed: a Chief, Master or Worker", "",
       SomebodyTrains},
      {kSpecs, "roles may not come or go while the job exists; change their replicas", "",
       SameRoles},
      {"spec.tfReplicaSpecs{}", "must have a container named tensorflow, which gets TF_CONFIG",
       ".template.spec.containers", HasTensorFlowContainer},
  };
  return rules;
}

}  // namespace taas
