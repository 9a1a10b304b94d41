#include "cli/job_warnings.h"

#include <algorithm>
#include <initializer_list>

#include "operator/api/field_error.h"
#include "operator/api/json_field.h"
#include "operator/api/rule_twin.h"
#include "operator/api/validation.h"
#include "operator/plan/tf_config.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using Sentences = std::vector<std::string>;

// Nothing where there is no list.
const Json& ListAt(const Json& from, std::initializer_list<const char*> keys) {
  static const Json none = Json::array();
  const Json& list = ValueAt(from, keys);
  return list.is_array() ? list : none;
}

// Replicas of a role; none where it is not there.
int64_t ReplicasOf(const Json& spec, const char* role) {
  const Json& one = ValueAt(spec, {"roles", role});
  if (one.is_null()) return 0;
  const Json& replicas = ValueAt(one, {"replicas"});
  return replicas.is_number_integer() ? replicas.get<int64_t>() : 1;
}

bool IsMountedIn(const Json& spec, const std::string& role, const std::string& path) {
  const auto holds = [&path](const Json& mount) {
    std::string at = TextOf(mount, "mountPath");
    while (at.size() > 1 && at.ends_with('/')) at.pop_back();
    return !at.empty() && (path == at || at == "/" || path.starts_with(at + "/"));
  };
  for (const Json& volume : ListAt(spec, {"volumes"})) {
    const Json& roles = ValueAt(volume, {"roles"});
    const bool in_role =
        !roles.is_array() ||
        std::any_of(roles.begin(), roles.end(), [&role](const Json& one) { return one == role; });
    if (in_role && holds(volume)) return true;
  }
  const Json& containers = ListAt(spec, {"roles", role.c_str(), "template", "spec", "containers"});
  for (const Json& container : containers) {
    for (const Json& mount : ListAt(container, {"volumeMounts"})) {
      if (holds(mount)) return true;
    }
  }
  return false;
}

class PathCheck {
 public:
  PathCheck(const Json& spec, Sentences* out) : spec_(spec), out_(out) {
    const bool has_chief = ReplicasOf(spec, "chief") > 0;
    chief_ = has_chief ? "chief" : "worker";
  }

  void CheckAll() {
    const Json& trainer = ValueAt(spec_, {"trainer"});
    Written("checkpoint", {chief_, "evaluator"});
    Written("summaries", {chief_, "evaluator"});
    Written("export", {chief_});
    // An image of one's own may hold data.
    if (!ValueAt(trainer, {"image"}).is_null()) return;
    for (const char* set : {"train", "test"}) {
      const Json& files = ValueAt(trainer, {"data", set});
      const std::string at = std::string("spec.trainer.data.") + set;
      const bool tested = std::string(set) == "test";
      for (const char* field : {"images", "labels"}) {
        Read(at + "." + field, ValueAt(files, {field}), tested);
      }
      const Json& list = ListAt(files, {"files"});
      for (size_t i = 0; i < list.size(); ++i) {
        Read(at + ".files[" + std::to_string(i) + "]", list[i], tested);
      }
    }
  }

 private:
  void Written(const char* part, std::initializer_list<const char*> roles) {
    Check(std::string("spec.trainer.") + part + ".dir",
          ValueAt(spec_, {"trainer", part, "dir"}), roles,
          "what is written there ends with its pod on a cluster");
  }
  void Read(const std::string& field, const Json& path, bool tested) {
    const char* const why = "a pod on a cluster does not see it";
    if (tested) {
      Check(field, path, {chief_, "evaluator"}, why);
    } else {
      Check(field, path, {"chief", "worker"}, why);
    }
  }
  // One word for each field: of the first role that lacks it.
  void Check(const std::string& field, const Json& value, std::initializer_list<const char*> roles,
             const std::string& why) {
    const std::string path = value.is_string() ? value.get<std::string>() : "";
    if (!path.starts_with('/')) return;
    for (const char* role : roles) {
      if (ReplicasOf(spec_, role) == 0 || IsMountedIn(spec_, role, path)) continue;
      out_->push_back(field + ": " + path + " is on no volume of role " + role +
                      " (spec.volumes), so " + why);
      return;
    }
  }

  const Json& spec_;
  const char* chief_;
  Sentences* out_;
};

// What the bundled trainer refuses where it finds as many GPUs; made-up ones it does not look at.
void CheckGpus(const Json& spec, Sentences* out) {
  const Json& strategy = ValueAt(spec, {"trainer", "strategy"});
  const std::string named = TextOf(strategy, "type");
  const std::string type = named.empty() ? "ParameterServer" : named;
  const Json& towers_field = ValueAt(strategy, {"towers"});
  const int64_t towers = towers_field.is_number_integer() ? towers_field.get<int64_t>() : 1;
  for (const char* role : {"chief", "worker", "evaluator"}) {
    const Json& field = ValueAt(spec, {"roles", role, "gpus"});
    const int64_t gpus = field.is_number_integer() ? field.get<int64_t>() : 0;
    if (gpus <= 1 || ReplicasOf(spec, role) == 0) continue;
    const std::string begin = std::string("spec.roles.") + role + ".gpus: " +
                              std::to_string(gpus) + " with strategy " + type;
    const std::string refused = ", which the trainer refuses on real GPUs: ";
    if (std::string(role) == "evaluator") {
      out->push_back(std::string("spec.roles.evaluator.gpus: ") + std::to_string(gpus) + refused +
                     "an evaluator computes on one");
    } else if (type != "Towers") {
      const bool alone = type == "Local";
      out->push_back(begin + refused + "set gpus: 1" +
                     (alone ? ", or strategy Towers with as many towers" : " and more workers"));
    } else if (towers != gpus) {
      out->push_back(begin + " and towers: " + std::to_string(towers) + refused +
                     "both are to be the same");
    }
  }
}

// The configuration, as the TrainingJob's rules and this release's trainer see it.
void CheckConfiguration(const std::string& path, const std::string& text, Sentences* out) {
  const std::string begin = path + " (" + std::string(kTrainerVariable) + "): ";
  const absl::StatusOr<Json> trainer = ParseJsonObject(text);
  if (!trainer.ok()) {
    out->push_back(begin + "is no JSON object, which the bundled trainer refuses: " +
                   std::string(trainer.status().message()));
    return;
  }
  const std::string job =
      Json{{"apiVersion", "taas.dev/v1"},
           {"kind", "TrainingJob"},
           {"metadata", {{"name", "x"}}},
           {"spec", {{"trainer", *trainer}, {"roles", {{"worker", {{"replicas", 1}}}}}}}}
          .dump(-1, ' ', false, Json::error_handler_t::replace);
  std::vector<FieldError> errors = ValidateAll(JobKind::kTrainingJob, job);
  std::erase_if(errors, [](const FieldError& error) {
    return !error.path.starts_with("spec.trainer.") ||
           (error.reason != kFieldUnknown && error.reason != kFieldNotSupported);
  });
  const bool fields_known = errors.empty();
  for (FieldError& error : fields_known ? ValidateTrainer(job) : ValidateTrainerNames(job)) {
    errors.push_back(std::move(error));
  }
  for (const FieldError& error : errors) {
    out->push_back(begin + "the bundled trainer refuses " + FormatFieldError(error));
  }
}

void CheckVariables(const Json& spec, Sentences* out) {
  const Json& roles = ValueAt(spec, {"tfReplicaSpecs"});
  if (!roles.is_object()) return;
  for (const auto& [role, body] : roles.items()) {
    const Json& containers = ListAt(body, {"template", "spec", "containers"});
    for (size_t c = 0; c < containers.size(); ++c) {
      const Json& env = ListAt(containers[c], {"env"});
      for (size_t e = 0; e < env.size(); ++e) {
        if (TextOf(env[e], "name") != kTrainerVariable || !env[e].contains("value")) continue;
        CheckConfiguration("spec.tfReplicaSpecs." + role + ".template.spec.containers[" +
                               std::to_string(c) + "].env[" + std::to_string(e) + "].value",
                           TextOf(env[e], "value"), out);
      }
    }
  }
}

}  // namespace

std::vector<std::string> JobWarnings(JobKind kind, std::string_view document) {
  Sentences out;
  const absl::StatusOr<Json> object = ParseJsonObject(document);
  if (!object.ok()) return out;
  const Json& spec = ValueAt(*object, {"spec"});
  if (kind == JobKind::kTfJob) {
    CheckVariables(spec, &out);
  } else if (!ValueAt(spec, {"trainer"}).is_null()) {
    PathCheck(spec, &out).CheckAll();
    CheckGpus(spec, &out);
  }
  return out;
}

}  // namespace taas
