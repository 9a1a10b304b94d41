#include "operator/api/job_rules.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "operator/api/defaults.h"

namespace taas {
namespace {

using Json = nlohmann::json;

constexpr char kUnchangeable[] = "may not change while the job exists";

// The value at `keys`, or null.
const Json& At(const Json& from, std::initializer_list<const char*> keys) {
  static const Json null;
  const Json* value = &from;
  for (const char* key : keys) {
    const auto member = value->find(key);
    if (!value->is_object() || member == value->end()) return null;
    value = &*member;
  }
  return *value;
}

int64_t Replicas(const Json& roles, const char* role) {
  const Json& replicas = At(roles, {role, "replicas"});
  return replicas.is_number() ? replicas.get<int64_t>() : 0;
}

int64_t TrainingReplicas(const Json& roles) {
  return Replicas(roles, "chief") + Replicas(roles, "worker");
}

bool HasStrategy(const Json& spec, const char* type) {
  return At(spec, {"trainer", "strategy", "type"}) == type;
}

// `self` is the value that the rule is attached to; `old` what was there before, null if nothing
// was. Rules that compare with the past hold for a value that has none.
using Predicate = std::function<bool(const Json& self, const Json* old)>;

struct JobRule {
  const char* at;
  const char* message;
  const char* field;  // Shown below `at`.
  Predicate holds;
};

Predicate Unchanged(const char* field) {
  return [field](const Json& self, const Json* old) {
    return old == nullptr || At(self, {field}) == At(*old, {field});
  };
}

bool NameFitsPods(const Json& self, const Json*) {
  const int64_t workers = Replicas(At(self, {"spec", "roles"}), "worker");
  if (workers < 1) return true;
  const Json& name = At(self, {"metadata", "name"});
  // A server makes the name from generateName before it checks the rules.
  if (!name.is_string()) return true;
  const size_t suffix = std::string("-worker-").size() + std::to_string(workers - 1).size();
  return name.get_ref<const std::string&>().size() + suffix <= static_cast<size_t>(kMaxDnsLabel);
}

bool MountPathsDiffer(const Json& self, const Json*) {
  std::map<Json, int> seen;
  for (const Json& volume : self) {
    if (++seen[At(volume, {"mountPath"})] > 1) return false;
  }
  return true;
}

bool StaysBelowRoot(const Json& self, const Json*) {
  const std::string path = "/" + self.value("mountPath", std::string()) + "/";
  return path.find("/../") == std::string::npos;
}

std::vector<JobRule> SpecRules() {
  return {
      {"spec", "strategy ParameterServer needs at least one ps", ".roles.ps",
       [](const Json& self, const Json*) {
         return !HasStrategy(self, "ParameterServer") || Replicas(At(self, {"roles"}), "ps") > 0;
       }},
      {"spec", "strategy Local has no parameter servers", ".roles.ps",
       [](const Json& self, const Json*) {
         return !HasStrategy(self, "Local") || Replicas(At(self, {"roles"}), "ps") == 0;
       }},
      {"spec", "strategy Local needs exactly one training replica: one chief or one worker",
       ".roles",
       [](const Json& self, const Json*) {
         return !HasStrategy(self, "Local") || TrainingReplicas(At(self, {"roles"})) == 1;
       }},
      {"spec", kUnchangeable, ".trainer", Unchanged("trainer")},
      {"spec", kUnchangeable, ".volumes", Unchanged("volumes")},
      {"spec", kUnchangeable, ".backoffLimit", Unchanged("backoffLimit")},
      {"spec", kUnchangeable, ".cleanPodPolicy", Unchanged("cleanPodPolicy")},
  };
}

std::vector<JobRule> RoleRules() {
  return {
      {"spec.roles", "at least one training replica is needed: a chief or a worker", "",
       [](const Json& self, const Json*) { return TrainingReplicas(self) > 0; }},
      {"spec.roles", kUnchangeable, ".chief", Unchanged("chief")},
      {"spec.roles", kUnchangeable, ".ps", Unchanged("ps")},
      {"spec.roles", "may not come or go while the job exists; change its replicas", ".worker",
       [](const Json& self, const Json* old) {
         return old == nullptr || self.contains("worker") == old->contains("worker");
       }},
  };
}

std::vector<JobRule> DataRules() {
  return {
      {"spec.trainer.data", "format idx needs the files to train on", ".train",
       [](const Json& self, const Json*) {
         return At(self, {"format"}) != "idx" || self.contains("train");
       }},
      {"spec.trainer.data", "format generated reads no files", ".train",
       [](const Json& self, const Json*) {
         return At(self, {"format"}) == "idx" || !(self.contains("train") || self.contains("test"));
       }},
      {"spec.trainer.data", "only format generated takes these options", ".generated",
       [](const Json& self, const Json*) {
         return At(self, {"format"}) == "generated" || !self.contains("generated");
       }},
  };
}

const std::vector<JobRule>& AllRules() {
  static const std::vector<JobRule> rules = [] {
    std::vector<JobRule> out = {
        {"", "the name is too long for pods NAME-worker-N, which have at most 63 characters",
         ".metadata.name", NameFitsPods}};
    for (const auto& part : {SpecRules(), RoleRules(), DataRules()}) {
      out.insert(out.end(), part.begin(), part.end());
    }
    out.push_back({"spec.volumes", "two volumes have the same mountPath", "",
                   MountPathsDiffer});
    out.push_back(
        {"spec.volumes[]", "must not contain '..'", ".mountPath", StaysBelowRoot});
    return out;
  }();
  return rules;
}

// A value that a rule is attached to, and its predecessor.
struct Place {
  std::string path;
  const Json* self;
  const Json* old;
};

const Json* Member(const Json* from, const std::string& key) {
  if (from == nullptr || !from->is_object()) return nullptr;
  const auto member = from->find(key);
  return member == from->end() ? nullptr : &*member;
}

// Values that `at` means: "spec.volumes[]" is each volume.
std::vector<Place> Places(const std::string& at, const Json& object, const Json* old) {
  std::vector<Place> places = {{"", &object, old}};
  size_t from = 0;
  while (from < at.size()) {
    const size_t dot = std::min(at.find('.', from), at.size());
    std::string key = at.substr(from, dot - from);
    from = dot + 1;
    const bool each = key.size() > 2 && key.substr(key.size() - 2) == "[]";
    if (each) key.resize(key.size() - 2);
    std::vector<Place> next;
    for (const Place& place : places) {
      const Json* self = Member(place.self, key);
      if (self == nullptr) continue;
      const std::string path = place.path.empty() ? key : place.path + "." + key;
      if (!each) {
        next.push_back({path, self, Member(place.old, key)});
        continue;
      }
      // No rule compares an item with an earlier one.
      for (size_t i = 0; i < self->size(); ++i) {
        next.push_back({path + "[" + std::to_string(i) + "]", &(*self)[i], nullptr});
      }
    }
    places = std::move(next);
  }
  return places;
}

}  // namespace

std::vector<FieldError> BrokenRules(const Json& object, const Json* old) {
  std::vector<FieldError> errors;
  for (const JobRule& rule : AllRules()) {
    for (const Place& place : Places(rule.at, object, old)) {
      if (rule.holds(*place.self, place.old)) continue;
      std::string path = place.path + rule.field;
      if (!path.empty() && path.front() == '.') path.erase(0, 1);
      errors.push_back(
          {path, std::string(kFieldInvalid), std::string("Invalid value: ") + rule.message});
    }
  }
  return errors;
}

std::vector<RuleName> KnownRules() {
  std::vector<RuleName> names;
  for (const JobRule& rule : AllRules()) names.push_back({rule.at, rule.field, rule.message});
  return names;
}

}  // namespace taas
