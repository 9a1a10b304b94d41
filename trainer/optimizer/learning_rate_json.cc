#include "trainer/optimizer/learning_rate_json.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "operator/base/status.h"

namespace taas {
namespace {

using Json = nlohmann::json;

constexpr int64_t kStepsMax = 1'000'000'000'000;
constexpr size_t kBoundariesMax = 1000;  // As in the CRD.

absl::Status Bad(const std::string& what) { return absl::InvalidArgumentError(what); }

absl::Status CheckFields(const Json& object, const std::string& path,
                         std::initializer_list<std::string_view> known) {
  for (const auto& [key, ignored] : object.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return Bad(path + "." + key + ": unknown field");
  }
  return absl::OkStatus();
}

absl::Status ReadSteps(const Json& object, const std::string& path, int64_t* out) {
  const auto steps = object.find("steps");
  if (steps == object.end() || !steps->is_number_integer() || steps->get<int64_t>() < 1 ||
      steps->get<int64_t>() > kStepsMax) {
    return Bad(path + ".steps: must be a whole number from 1 to " + std::to_string(kStepsMax));
  }
  *out = steps->get<int64_t>();
  return absl::OkStatus();
}

absl::Status ReadExponential(const Json& decay, const std::string& path, LearningRate* rate) {
  RETURN_IF_ERROR(CheckFields(decay, path, {"type", "steps", "rate", "staircase"}));
  RETURN_IF_ERROR(ReadSteps(decay, path, &rate->decay_steps));
  if (!decay.contains("rate")) return Bad(path + ".rate: is required");
  RETURN_IF_ERROR(ReadNumber(decay, path, "rate", &rate->decay_rate));
  return ReadBool(decay, path, "staircase", &rate->staircase);
}

absl::Status ReadStep(const Json& decay, const std::string& path, LearningRate* rate) {
  rate->decay = DecayType::kStep;
  RETURN_IF_ERROR(CheckFields(decay, path, {"type", "boundaries", "rates"}));
  const Json boundaries = decay.value("boundaries", Json());
  if (!boundaries.is_array() || boundaries.empty() || boundaries.size() > kBoundariesMax) {
    return Bad(path + ".boundaries: must be a list of 1 to " + std::to_string(kBoundariesMax) +
               " steps");
  }
  for (const Json& boundary : boundaries) {
    if (!boundary.is_number_integer() || boundary.get<int64_t>() < 1 ||
        boundary.get<int64_t>() > kStepsMax) {
      return Bad(path + ".boundaries: must be whole numbers from 1 to " +
                 std::to_string(kStepsMax) + ", is " + boundary.dump());
    }
    rate->boundaries.push_back(boundary.get<int64_t>());
  }
  const Json rates = decay.value("rates", Json());
  if (!rates.is_array() || rates.size() != boundaries.size()) {
    return Bad(path + ".rates: must be one for each boundary");
  }
  for (const Json& value : rates) {
    if (!value.is_number()) return Bad(path + ".rates: must be numbers, is " + value.dump());
    rate->rates.push_back(value.get<double>());
  }
  return absl::OkStatus();
}

absl::Status ReadCosine(const Json& decay, const std::string& path, LearningRate* rate) {
  rate->decay = DecayType::kCosine;
  RETURN_IF_ERROR(CheckFields(decay, path, {"type", "steps", "alpha"}));
  RETURN_IF_ERROR(ReadSteps(decay, path, &rate->decay_steps));
  return ReadNumber(decay, path, "alpha", &rate->alpha);
}

absl::Status ReadDecay(const Json& optimizer, LearningRate* rate) {
  const auto found = optimizer.find("decay");
  if (found == optimizer.end()) return absl::OkStatus();
  const std::string path = "optimizer.decay";
  if (!found->is_object()) {
    return Bad(path + ": must be an object, such as {\"steps\":1000,\"rate\":0.96}, is " +
               found->dump());
  }
  const Json type = found->value("type", Json("exponential"));
  if (type == "exponential") return ReadExponential(*found, path, rate);
  if (type == "step") return ReadStep(*found, path, rate);
  if (type == "cosine") return ReadCosine(*found, path, rate);
  return Bad(path + ".type: must be exponential, step or cosine, is " + type.dump());
}

absl::Status ReadWarmup(const Json& optimizer, LearningRate* rate) {
  const auto found = optimizer.find("warmup");
  if (found == optimizer.end()) return absl::OkStatus();
  const std::string path = "optimizer.warmup";
  if (!found->is_object()) return Bad(path + ": must be an object with steps, is " + found->dump());
  RETURN_IF_ERROR(CheckFields(*found, path, {"steps"}));
  return ReadSteps(*found, path, &rate->warmup_steps);
}

}  // namespace

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

absl::Status ReadBool(const Json& object, const std::string& path, const char* name, bool* out) {
  const auto found = object.find(name);
  if (found == object.end()) return absl::OkStatus();
  if (!found->is_boolean()) {
    return Bad(path + "." + name + ": must be true or false, is " + found->dump());
  }
  *out = found->get<bool>();
  return absl::OkStatus();
}

absl::Status ReadLearningRate(const Json& optimizer, int64_t gradients, LearningRate* rate) {
  if (!optimizer.contains("learningRate")) {
    return Bad("optimizer.learningRate: is required, a number above 0");
  }
  RETURN_IF_ERROR(ReadNumber(optimizer, "optimizer", "learningRate", &rate->start));
  RETURN_IF_ERROR(ReadDecay(optimizer, rate));
  RETURN_IF_ERROR(ReadWarmup(optimizer, rate));
  bool scaled = false;
  RETURN_IF_ERROR(ReadBool(optimizer, "optimizer", "scaleByWorkers", &scaled));
  if (scaled) rate->scale = static_cast<double>(gradients);
  return absl::OkStatus();
}

}  // namespace taas
