// Optimizer::Parse.

#include <string>

#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/optimizer/optimizer.h"

namespace taas {
namespace {

using Json = nlohmann::json;

constexpr int64_t kDecayStepsMax = 1'000'000'000'000;

absl::Status Bad(const std::string& what) { return absl::InvalidArgumentError(what); }

absl::Status ReadNumber(const Json& object, const std::string& path, const char* name,
                        double* out) {
  const auto found = object.find(name);
  if (found == object.end()) return absl::OkStatus();
  if (!found->is_number()) {
    return Bad(path + "." + name + ": must be a number, is " + found->dump());
  }
  *out = found->get<double>();
  return absl::OkStatus();
}

// Every field is known, and one that belongs to a single optimizer is used with that one only: a
// number that changes nothing would not be noticed.
absl::Status CheckFields(const Json& object, const std::string& optimizer) {
  struct Field {
    const char* name;
    const char* of;  // "" = of all.
  };
  constexpr Field kFields[] = {{"name", ""},           {"learningRate", ""}, {"decay", ""},
                               {"movingAverage", ""},  {"beta1", "adam"},    {"beta2", "adam"},
                               {"momentum", "momentum"}, {"epsilon", "adam"}};
  for (const auto& [key, ignored] : object.items()) {
    const Field* found = nullptr;
    for (const Field& field : kFields) {
      if (key == field.name) found = &field;
    }
    if (found == nullptr) return Bad("optimizer." + key + ": unknown field");
    if (*found->of != '\0' && optimizer != found->of) {
      return Bad("optimizer." + key + ": belongs to optimizer " + found->of + ", not to " +
                 optimizer);
    }
  }
  return absl::OkStatus();
}

absl::Status ReadDecay(const Json& object, LearningRate* rate) {
  const auto found = object.find("decay");
  if (found == object.end()) return absl::OkStatus();
  if (!found->is_object()) {
    return Bad("optimizer.decay: must be an object with steps and rate, is " + found->dump());
  }
  for (const auto& [key, ignored] : found->items()) {
    if (key == "steps" || key == "rate" || key == "staircase") continue;
    return Bad("optimizer.decay." + key + ": unknown field");
  }
  const auto steps = found->find("steps");
  if (steps == found->end() || !steps->is_number_integer() || steps->get<int64_t>() < 1 ||
      steps->get<int64_t>() > kDecayStepsMax) {
    return Bad("optimizer.decay.steps: must be a whole number from 1 to " +
               std::to_string(kDecayStepsMax));
  }
  rate->decay_steps = steps->get<int64_t>();
  if (!found->contains("rate")) return Bad("optimizer.decay.rate: is required");
  RETURN_IF_ERROR(ReadNumber(*found, "optimizer.decay", "rate", &rate->decay_rate));
  const auto staircase = found->find("staircase");
  if (staircase == found->end()) return absl::OkStatus();
  if (!staircase->is_boolean()) {
    return Bad("optimizer.decay.staircase: must be true or false, is " + staircase->dump());
  }
  rate->staircase = staircase->get<bool>();
  return absl::OkStatus();
}

absl::Status ReadAverage(const Json& object, std::optional<double>* out) {
  const auto found = object.find("movingAverage");
  if (found == object.end()) return absl::OkStatus();
  if (!found->is_object() || found->size() != 1 || !found->contains("decay")) {
    return Bad("movingAverage: must be an object with decay, is " + found->dump());
  }
  double decay = 0;
  RETURN_IF_ERROR(ReadNumber(*found, "movingAverage", "decay", &decay));
  *out = decay;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> Optimizer::Parse(std::string_view json) {
  const Json value = Json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) return Bad("optimizer: must be a JSON object, is " + std::string(json));
  const auto name = value.find("name");
  if (name == value.end() || !name->is_string()) {
    return Bad("optimizer.name: must be one of sgd, momentum, adam");
  }
  OptimizerOptions options{.name = name->get<std::string>()};
  if (!value.contains("learningRate")) {
    return Bad("optimizer.learningRate: is required, a number above 0");
  }
  const std::string path = "optimizer";
  RETURN_IF_ERROR(ReadNumber(value, path, "learningRate", &options.learning_rate.start));
  RETURN_IF_ERROR(ReadNumber(value, path, "momentum", &options.momentum));
  RETURN_IF_ERROR(ReadNumber(value, path, "beta1", &options.beta1));
  RETURN_IF_ERROR(ReadNumber(value, path, "beta2", &options.beta2));
  RETURN_IF_ERROR(ReadNumber(value, path, "epsilon", &options.epsilon));
  RETURN_IF_ERROR(ReadDecay(value, &options.learning_rate));
  RETURN_IF_ERROR(ReadAverage(value, &options.average_decay));
  ASSIGN_OR_RETURN(auto optimizer, Make(options));
  RETURN_IF_ERROR(CheckFields(value, options.name));
  return optimizer;
}

}  // namespace taas
