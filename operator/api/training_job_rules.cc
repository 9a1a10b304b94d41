#include "operator/api/training_job_rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "operator/api/defaults.h"
#include "operator/api/ended_job_rule.h"
#include "operator/api/training_data_rules.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using Predicate = RuleTwin::Predicate;

constexpr char kOnlySuspended[] = "may change only while the job is suspended";
constexpr std::array<const char*, 4> kRoles = {"chief", "ps", "worker", "evaluator"};

// What the operator sets; a manifest that sets it, too, would be ignored or break the job.
constexpr std::array<const char*, 11> kOurs = {
    "TF_CONFIG",    "TAAS_CLUSTER",         "TAAS_JOB",        "TAAS_JOB_UID",
    "TAAS_ROLE",    "TAAS_INDEX",           "TAAS_ATTEMPT",    "TAAS_POD_NUMBER",
    "TAAS_TRAINER", "TAAS_ELASTIC_WORKERS", "TAAS_STATUS_PORT"};

int64_t Replicas(const Json& spec, const char* role) {
  return NumberAt(spec, {"roles", role, "replicas"});
}

int64_t TrainingReplicas(const Json& spec) {
  return Replicas(spec, "chief") + Replicas(spec, "worker");
}

bool Bundled(const Json& spec) { return spec.contains("trainer"); }

bool HasStrategy(const Json& spec, const char* type) {
  return ValueAt(spec, {"trainer", "strategy", "type"}) == type;
}

bool NameFitsPods(const Json& self, const Json*) {
  const Json& name = ValueAt(self, {"metadata", "name"});
  // A server makes the name from generateName before it checks the rules.
  if (!name.is_string()) return true;
  for (const std::string role : kRoles) {
    const int64_t replicas = Replicas(ValueAt(self, {"spec"}), role.c_str());
    if (replicas < 1) continue;
    const size_t length = name.get_ref<const std::string&>().size() + role.size() + 2 +
                          std::to_string(replicas - 1).size();
    if (length > static_cast<size_t>(kMaxDnsLabel)) return false;
  }
  return true;
}

bool PsWhereNeeded(const Json& self, const Json*) {
  return !HasStrategy(self, "ParameterServer") || Replicas(self, "ps") > 0;
}

bool IsOneProcess(const Json& spec) {
  return Bundled(spec) && !HasStrategy(spec, "ParameterServer") &&
         !HasStrategy(spec, "AllReduce");
}

bool PsOnlyWhereNeeded(const Json& self, const Json*) {
  return !Bundled(self) || HasStrategy(self, "ParameterServer") || Replicas(self, "ps") == 0;
}

bool OneProcessIsOne(const Json& self, const Json*) {
  return !IsOneProcess(self) || TrainingReplicas(self) == 1;
}

bool SomeGradientCounts(const Json& self, const Json*) {
  const int64_t backups = NumberAt(self, {"trainer", "strategy", "backupWorkers"});
  return backups == 0 || backups < TrainingReplicas(self);
}

bool EvaluatorHasCheckpoints(const Json& self, const Json*) {
  return !Bundled(self) || !ValueAt(self, {"trainer", "checkpoint"}).is_null() ||
         Replicas(self, "evaluator") == 0;
}

bool WorkersForPolicy(const Json& self, const Json*) {
  return ValueAt(self, {"successPolicy"}) == "Auto" || Replicas(self, "worker") > 0;
}

bool GangFits(const Json& self, const Json*) {
  int64_t total = 0;
  for (const char* role : kRoles) total += Replicas(self, role);
  return NumberAt(self, {"schedulingPolicy", "minAvailable"}) <= total;
}

Predicate HasTemplate(const char* role) {
  return [role](const Json& self, const Json*) {
    const Json& spec = ValueAt(self, {"roles", role});
    return Bundled(self) || spec.is_null() || spec.contains("template");
  };
}

Predicate HasMainContainer(const char* role) {
  return [role](const Json& self, const Json*) {
    const Json& spec = ValueAt(self, {"roles", role, "template", "spec"});
    if (Bundled(self) || spec.is_null()) return true;
    const Json& containers = ValueAt(spec, {"containers"});
    if (containers.size() == 1) return true;
    return std::any_of(containers.begin(), containers.end(), [](const Json& container) {
      return ValueAt(container, {"name"}) == std::string(kTrainerContainer);
    });
  };
}

Predicate HasImages(const char* role) {
  return [role](const Json& self, const Json*) {
    for (const Json& container : ValueAt(self, {"roles", role, "template", "spec", "containers"})) {
      const bool completed =
          Bundled(self) && ValueAt(container, {"name"}) == std::string(kTrainerContainer);
      if (!completed && !container.contains("image")) return false;
    }
    return true;
  };
}

bool IsFixed(const Json* old) { return old != nullptr && ValueAt(*old, {"suspend"}) != true; }

Predicate Unchanged(const char* field) {
  return [field](const Json& self, const Json* old) {
    return !IsFixed(old) || ValueAt(self, {field}) == ValueAt(*old, {field});
  };
}

Predicate SameReplicas(const char* role) {
  return [role](const Json& self, const Json* old) {
    if (!IsFixed(old)) return true;
    const Json& now = ValueAt(self, {"roles", role});
    const Json& before = ValueAt(*old, {"roles", role});
    return now.is_null() || before.is_null() || Replicas(self, role) == Replicas(*old, role);
  };
}

// `self`, `old`: the spec.
bool WorkersStayOrAreElastic(const Json& self, const Json* old) {
  return !HasStrategy(self, "AllReduce") ||
         !ValueAt(self, {"roles", "worker", "elastic"}).is_null() ||
         SameReplicas("worker")(self, old);
}

Predicate SameButReplicasAndTemplate(const char* role) {
  return [role](const Json& self, const Json* old) {
    if (!IsFixed(old)) return true;
    Json now = ValueAt(self, {"roles", role});
    Json before = ValueAt(*old, {"roles", role});
    if (now.is_null() || before.is_null()) return true;
    for (Json* spec : {&now, &before}) {
      spec->erase("replicas");
      spec->erase("template");
    }
    return now == before;
  };
}

std::vector<RuleTwin> SpecRules() {
  std::vector<RuleTwin> rules = {
      {"spec",
       "strategy ParameterServer needs at least one ps: add spec.roles.ps, or "
       "spec.trainer.strategy: {type: Local} for one process, or {type: AllReduce} for several "
       "without ps",
       ".roles.ps", PsWhereNeeded},
      {"spec", "strategies AllReduce, Local and Towers have no parameter servers", ".roles.ps",
       PsOnlyWhereNeeded},
      {"spec",
       "strategies Local and Towers need exactly one training replica: one chief or one worker",
       ".roles", OneProcessIsOne},
      {"spec", "leaves no training replica whose gradient counts",
       ".trainer.strategy.backupWorkers", SomeGradientCounts},
      {"spec",
       "is of strategy AllReduce only; workers beside parameter servers may come and go without it",
       ".roles.worker.elastic",
       [](const Json& self, const Json*) {
         return ValueAt(self, {"roles", "worker", "elastic"}).is_null() ||
                HasStrategy(self, "AllReduce");
       }},
      {"spec",
       "the bundled trainer's evaluator follows checkpoints: spec.trainer.checkpoint.dir is needed",
       ".roles.evaluator", EvaluatorHasCheckpoints},
      {"spec", "only Auto does without workers", ".successPolicy", WorkersForPolicy},
      {"spec", "more than the job has replicas", ".schedulingPolicy.minAvailable", GangFits},
  };
  for (const char* role : kRoles) {
    const std::string at = std::string(".roles.") + role;
    rules.push_back(
        {"spec", "without spec.trainer each role needs a template", at, HasTemplate(role)});
    rules.push_back({"spec",
                     "a container named trainer, or only one, is needed: it gets TF_CONFIG",
                     at + ".template.spec", HasMainContainer(role)});
    rules.push_back(
        {"spec", "each container needs an image", at + ".template.spec", HasImages(role)});
  }
  return rules;
}

// What becomes of the rest may change: how long the job stays, and which of its pods.
bool EndedJobStays(const Json& self, const Json* old) {
  if (!HasEnded(old)) return true;
  const Json& now = ValueAt(self, {"spec"});
  const Json& before = ValueAt(*old, {"spec"});
  if (ValueAt(now, {"suspend"}) == true && ValueAt(before, {"suspend"}) != true) return false;
  for (const char* field : {"roles", "trainer", "volumes", "activeDeadlineSeconds",
                            "pendingDeadlineSeconds", "backoffLimit", "successPolicy",
                            "restartScope", "exitCodes", "nodeLossSeconds", "schedulingPolicy",
                            "network"}) {
    if (ValueAt(now, {field}) != ValueAt(before, {field})) return false;
  }
  return true;
}

// Of a job that has ended there is a word of its own.
Predicate OfLivingJob(Predicate of_spec) {
  return [of_spec](const Json& self, const Json* old) {
    if (old == nullptr || HasEnded(old)) return true;
    return of_spec(ValueAt(self, {"spec"}), &ValueAt(*old, {"spec"}));
  };
}

std::vector<RuleTwin> ChangeRules() {
  std::vector<RuleTwin> rules;
  const auto add = [&rules](const std::string& message, const std::string& field,
                            Predicate holds) {
    rules.push_back({"", message, ".spec." + field, OfLivingJob(std::move(holds))});
  };
  for (const char* field : {"trainer", "volumes", "backoffLimit", "cleanPodPolicy", "successPolicy",
                            "restartScope", "exitCodes", "nodeLossSeconds", "schedulingPolicy",
                            "network"}) {
    add(kOnlySuspended, field, Unchanged(field));
  }
  add(kOnlySuspended, "roles.chief.replicas", SameReplicas("chief"));
  add("variables are spread over the parameter servers when a job starts: may change only while it "
      "is suspended",
      "roles.ps.replicas", SameReplicas("ps"));
  add("all-reduce waits for each worker that it began with, unless roles.worker.elastic says how "
      "many there may be: may change only while the job is suspended",
      "roles.worker.replicas", WorkersStayOrAreElastic);
  for (const char* role : kRoles) {
    add("only replicas and template may change while the job is not suspended",
        std::string("roles.") + role, SameButReplicasAndTemplate(role));
  }
  rules.push_back({"", std::string(kEndedJobStays), ".spec", EndedJobStays});
  return rules;
}

bool SomebodyTrains(const Json& self, const Json*) {
  return NumberAt(self, {"chief", "replicas"}) + NumberAt(self, {"worker", "replicas"}) > 0;
}

bool SameRoles(const Json& self, const Json* old) {
  if (old == nullptr) return true;
  for (const char* role : kRoles) {
    if (self.contains(role) != old->contains(role)) return false;
  }
  return true;
}

bool EnvIsTheUsers(const Json& self, const Json*) {
  for (const Json& variable : self) {
    const Json& name = ValueAt(variable, {"name"});
    if (std::find(kOurs.begin(), kOurs.end(), name) != kOurs.end()) return false;
  }
  return true;
}

bool OneValue(const Json& self, const Json*) {
  return !self.contains("value") || !self.contains("valueFrom") || self["value"] == "";
}

std::vector<RuleTwin> RoleRules() {
  std::vector<RuleTwin> rules = {
      {"spec.roles", "at least one training replica is needed: a chief or a worker", "",
       SomebodyTrains},
      {"spec.roles", "roles may not come or go while the job exists; change their replicas", "",
       SameRoles},
  };
  for (const char* role : kRoles) {
    const std::string env = std::string("spec.roles.") + role + ".env";
    rules.push_back({env, "the operator sets TF_CONFIG and the TAAS_ names of job and replica", "",
                     EnvIsTheUsers});
    rules.push_back({env + "[]", "has value and valueFrom", "", OneValue});
  }
  return rules;
}

Predicate OfMode(const char* mode, const char* field) {
  return [mode, field](const Json& self, const Json*) {
    return ValueAt(self, {"mode"}) == mode || !self.contains(field);
  };
}

bool OneWayToCount(const Json& self, const Json*) {
  const Json& backups = ValueAt(self, {"backupWorkers"});
  return !self.contains("replicasToAggregate") || backups.is_null() || backups == 0 ||
         backups == "0%";
}

std::vector<RuleTwin> StrategyRules() {
  const std::string at = "spec.trainer.strategy";
  return {
      {at,
       "Sync is of type ParameterServer; of AllReduce each step is, and one process has nobody to "
       "wait for",
       ".mode",
       [](const Json& self, const Json*) {
         return ValueAt(self, {"mode"}) == "Async" || ValueAt(self, {"type"}) == "ParameterServer";
       }},
      {at, "is of mode Sync only", ".replicasToAggregate", OfMode("Sync", "replicasToAggregate")},
      {at, "is of mode Sync only", ".backupWorkers", OfMode("Sync", "backupWorkers")},
      {at, "says the same as backupWorkers in another way; give one of them",
       ".replicasToAggregate", OneWayToCount},
      {at, "is of type ParameterServer and mode Async only", ".maxStaleness",
       [](const Json& self, const Json*) {
         const bool is_async = ValueAt(self, {"type"}) == "ParameterServer" &&
                               ValueAt(self, {"mode"}) == "Async";
         return is_async || !self.contains("maxStaleness");
       }},
      {at, "is of type Towers only", ".towers",
       [](const Json& self, const Json*) {
         return ValueAt(self, {"type"}) == "Towers" || !self.contains("towers");
       }},
      {at, "is of type AllReduce only", ".heartbeatSeconds",
       [](const Json& self, const Json*) {
         return ValueAt(self, {"type"}) == "AllReduce" || !self.contains("heartbeatSeconds");
       }},
      {at, "is of types ParameterServer and AllReduce only", ".gradientPrecision",
       [](const Json& self, const Json*) {
         const Json& type = ValueAt(self, {"type"});
         return type == "ParameterServer" || type == "AllReduce" ||
                !self.contains("gradientPrecision");
       }},
  };
}

std::string TextAt(const Json& from, std::initializer_list<const char*> keys) {
  return std::to_string(NumberAt(from, keys));
}

std::vector<RuleTwin> ElasticRules() {
  return {
      {.at = "spec.roles.worker",
       .message = "is not between elastic.minReplicas and elastic.maxReplicas",
       .field = ".replicas",
       .holds =
           [](const Json& self, const Json*) {
             const int64_t replicas = NumberAt(self, {"replicas"});
             return !self.contains("elastic") ||
                    (replicas >= NumberAt(self, {"elastic", "minReplicas"}) &&
                     replicas <= NumberAt(self, {"elastic", "maxReplicas"}));
           },
       .says =
           [](const Json& self) {
             return "elastic allows " + TextAt(self, {"elastic", "minReplicas"}) + " to " +
                    TextAt(self, {"elastic", "maxReplicas"}) + " workers";
           }},
      {.at = "spec.roles.worker.elastic",
       .message = "is above maxReplicas",
       .field = ".minReplicas",
       .holds =
           [](const Json& self, const Json*) {
             return NumberAt(self, {"minReplicas"}) <= NumberAt(self, {"maxReplicas"});
           }},
  };
}

bool HasType(const Json& decay, const char* type) {
  return decay.value("type", std::string("exponential")) == type;
}

bool StepHasItsLists(const Json& self, const Json*) {
  const bool boundaries = self.contains("boundaries"), rates = self.contains("rates");
  return HasType(self, "step") == (boundaries && rates) && boundaries == rates;
}

std::vector<RuleTwin> OptimizerRules() {
  const std::string at = "spec.trainer.optimizer.decay";
  return {
      {at, "is needed", ".steps",
       [](const Json& self, const Json*) {
         return HasType(self, "step") || self.contains("steps");
       }},
      {at, "is not of type step", ".steps",
       [](const Json& self, const Json*) {
         return !HasType(self, "step") || !self.contains("steps");
       }},
      {at, "is needed for type exponential", ".rate",
       [](const Json& self, const Json*) {
         return !HasType(self, "exponential") || self.contains("rate");
       }},
      {at, "rate and staircase are of type exponential only", ".rate",
       [](const Json& self, const Json*) {
         return HasType(self, "exponential") ||
                !(self.contains("rate") || self.contains("staircase"));
       }},
      {at, "type step, and no other, has boundaries and rates", ".boundaries", StepHasItsLists},
      {at, "there must be one for each boundary", ".rates",
       [](const Json& self, const Json*) {
         return !self.contains("boundaries") || !self.contains("rates") ||
                self["boundaries"].size() == self["rates"].size();
       }},
      {at, "is of type cosine only", ".alpha",
       [](const Json& self, const Json*) {
         return HasType(self, "cosine") || !self.contains("alpha");
       }},
      {"spec.trainer.optimizer.clip", "either value or globalNorm is needed", "",
       [](const Json& self, const Json*) {
         return self.contains("value") != self.contains("globalNorm");
       }},
  };
}

bool MountPathsDiffer(const Json& self, const Json*) {
  std::map<Json, int> seen;
  for (const Json& volume : self) {
    if (++seen[ValueAt(volume, {"mountPath"})] > 1) return false;
  }
  return true;
}

bool StaysBelowRoot(const Json& self, const Json*) {
  const std::string path = "/" + self.value("mountPath", std::string()) + "/";
  return path.find("/../") == std::string::npos;
}

bool NoCodeTwice(const Json& self, const Json*) {
  const Json& permanent = ValueAt(self, {"permanent"});
  for (const Json& code : ValueAt(self, {"retryable"})) {
    if (std::find(permanent.begin(), permanent.end(), code) != permanent.end()) return false;
  }
  return true;
}

std::vector<RuleTwin> OtherRules() {
  return {
      {"", "the name is too long for pods NAME-ROLE-N, which have at most 63 characters",
       ".metadata.name", NameFitsPods},
      {"spec.volumes", "two volumes have the same mountPath", "", MountPathsDiffer},
      {"spec.volumes[]", "must not contain '..'", ".mountPath", StaysBelowRoot},
      {"spec.exitCodes", "a code is in both lists", ".permanent", NoCodeTwice},
      {"spec.network.port", "is the port of /status", "",
       [](const Json& self, const Json*) { return self != kStatusPort; }},
  };
}

}  // namespace

const std::vector<RuleTwin>& TrainingJobRules() {
  static const std::vector<RuleTwin> rules = [] {
    std::vector<RuleTwin> all;
    for (const auto& part : {OtherRules(), SpecRules(), ChangeRules(), RoleRules(),
                             ElasticRules(), StrategyRules(), TrainingDataRules(),
                             OptimizerRules()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return rules;
}

}  // namespace taas
