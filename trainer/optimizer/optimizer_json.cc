// Optimizer::Parse.

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "operator/base/closest_name.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/optimizer/learning_rate_json.h"
#include "trainer/optimizer/optimizer.h"

namespace taas {
namespace {

using Json = nlohmann::json;

absl::Status Bad(const std::string& what) { return absl::InvalidArgumentError(what); }

// A field that belongs to some optimizers is used with those only: a number that changes nothing
// would not be noticed. The twin of the table in operator/api/validation.cc.
struct Field {
  const char* name;
  std::initializer_list<const char*> of;  // None = of all.
};

const Field kFields[] = {{"name", {}},
                         {"learningRate", {}},
                         {"decay", {}},
                         {"warmup", {}},
                         {"scaleByWorkers", {}},
                         {"movingAverage", {}},
                         {"momentum", {"momentum", "rmsprop"}},
                         {"nesterov", {"momentum"}},
                         {"beta1", {"adam", "adamw"}},
                         {"beta2", {"adam", "adamw"}},
                         {"epsilon", {"adam", "adamw", "rmsprop"}},
                         {"weightDecay", {"adamw"}},
                         {"initialAccumulator", {"adagrad", "ftrl"}},
                         {"rho", {"rmsprop"}},
                         {"centered", {"rmsprop"}},
                         {"learningRatePower", {"ftrl"}},
                         {"l1", {"ftrl"}},
                         {"l2", {"ftrl"}}};

absl::Status CheckFields(const Json& object, const std::string& optimizer) {
  for (const auto& [key, ignored] : object.items()) {
    const Field* found = nullptr;
    for (const Field& field : kFields) {
      if (key == field.name) found = &field;
    }
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const Field& field : kFields) names.emplace_back(field.name);
      const std::string meant = DidYouMean(key, names);
      return Bad("optimizer." + key + ": unknown field" + (meant.empty() ? "" : "; " + meant));
    }
    const auto& of = found->of;
    if (of.size() == 0 || std::find(of.begin(), of.end(), optimizer) != of.end()) continue;
    std::string owners;
    for (const char* owner : of) owners += (owners.empty() ? "" : ", ") + std::string(owner);
    return Bad("optimizer." + key + ": belongs to " + owners + ", not to " + optimizer);
  }
  return absl::OkStatus();
}

absl::Status ReadOptional(const Json& object, const std::string& path, const char* name,
                          std::optional<double>* out) {
  if (!object.contains(name)) return absl::OkStatus();
  return ReadNumber(object, path, name, &out->emplace());
}

absl::Status ReadAverage(const Json& object, std::optional<double>* out) {
  const auto found = object.find("movingAverage");
  if (found == object.end()) return absl::OkStatus();
  if (!found->is_object() || found->size() != 1 || !found->contains("decay")) {
    return Bad("movingAverage: must be an object with decay, is " + found->dump());
  }
  return ReadOptional(*found, "movingAverage", "decay", out);
}

absl::Status ReadRule(const Json& object, OptimizerOptions* options) {
  const std::string path = "optimizer";
  RETURN_IF_ERROR(ReadOptional(object, path, "momentum", &options->momentum));
  RETURN_IF_ERROR(ReadBool(object, path, "nesterov", &options->nesterov));
  RETURN_IF_ERROR(ReadNumber(object, path, "beta1", &options->beta1));
  RETURN_IF_ERROR(ReadNumber(object, path, "beta2", &options->beta2));
  RETURN_IF_ERROR(ReadOptional(object, path, "epsilon", &options->epsilon));
  RETURN_IF_ERROR(ReadNumber(object, path, "weightDecay", &options->weight_decay));
  RETURN_IF_ERROR(ReadNumber(object, path, "initialAccumulator", &options->initial_accumulator));
  RETURN_IF_ERROR(ReadNumber(object, path, "rho", &options->rho));
  RETURN_IF_ERROR(ReadBool(object, path, "centered", &options->centered));
  RETURN_IF_ERROR(ReadNumber(object, path, "learningRatePower", &options->learning_rate_power));
  RETURN_IF_ERROR(ReadNumber(object, path, "l1", &options->l1));
  return ReadNumber(object, path, "l2", &options->l2);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> Optimizer::Parse(std::string_view json,
                                                            int64_t gradients) {
  const Json value = Json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) return Bad("optimizer: must be a JSON object, is " + std::string(json));
  const auto name = value.find("name");
  if (name == value.end() || !name->is_string()) {
    return Bad("optimizer.name: must be one of " + KnownOptimizers());
  }
  OptimizerOptions options{.name = name->get<std::string>()};
  RETURN_IF_ERROR(ReadLearningRate(value, gradients, &options.learning_rate));
  RETURN_IF_ERROR(ReadRule(value, &options));
  RETURN_IF_ERROR(ReadAverage(value, &options.average_decay));
  ASSIGN_OR_RETURN(auto optimizer, Make(options));
  RETURN_IF_ERROR(CheckFields(value, options.name));
  return optimizer;
}

}  // namespace taas
