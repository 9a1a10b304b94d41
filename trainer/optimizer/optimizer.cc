#include "trainer/optimizer/optimizer.h"

#include <cstdio>

#include "absl/strings/str_split.h"
#include "operator/base/closest_name.h"
#include "operator/base/status.h"
#include "trainer/optimizer/rule.h"

namespace taas {
namespace {

struct Bound {
  const char* field;
  double value;
  double low;
  bool low_is_in;
  double high;
  bool high_is_in;
};

std::string Text(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

absl::Status CheckBound(const Bound& bound) {
  const bool above = bound.low_is_in ? bound.value >= bound.low : bound.value > bound.low;
  const bool below = bound.high_is_in ? bound.value <= bound.high : bound.value < bound.high;
  if (above && below) return absl::OkStatus();  // Never for NaN.
  return absl::InvalidArgumentError(
      std::string(bound.field) + ": must be " + (bound.low_is_in ? "at least " : "above ") +
      Text(bound.low) + (bound.high_is_in ? " and at most " : " and below ") + Text(bound.high) +
      ", is " + Text(bound.value));
}

// Above this no number of an optimizer is meant.
constexpr double kLarge = 1e6;

absl::Status CheckRate(const LearningRate& rate) {
  for (const Bound& bound : {
           Bound{"optimizer.learningRate", rate.start, 0, false, kLarge, true},
           Bound{"optimizer.decay.rate", rate.decay_rate, 0, false, kLarge, true},
           Bound{"optimizer.decay.alpha", rate.alpha, 0, true, 1, true},
       }) {
    RETURN_IF_ERROR(CheckBound(bound));
  }
  if (rate.boundaries.size() != rate.rates.size()) {
    return absl::InvalidArgumentError("optimizer.decay.rates: must be one for each boundary");
  }
  for (size_t i = 0; i < rate.boundaries.size(); ++i) {
    RETURN_IF_ERROR(CheckBound({"optimizer.decay.rates", rate.rates[i], 0, false, kLarge, true}));
    if (rate.boundaries[i] >= (i == 0 ? 1 : rate.boundaries[i - 1] + 1)) continue;
    return absl::InvalidArgumentError("optimizer.decay.boundaries: must grow, from 1");
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const OptimizerOptions& options) {
  RETURN_IF_ERROR(CheckRate(options.learning_rate));
  // A sum that starts at 0 divides by 0 in adagrad, where the first gradient is 0.
  const bool adagrad = options.name == "adagrad";
  for (const Bound& bound : {
           Bound{"optimizer.momentum", options.momentum.value_or(0), 0, true, 1, false},
           Bound{"optimizer.beta1", options.beta1, 0, true, 1, false},
           Bound{"optimizer.beta2", options.beta2, 0, true, 1, false},
           Bound{"optimizer.epsilon", options.epsilon.value_or(1), 0, false, kLarge, true},
           Bound{"optimizer.weightDecay", options.weight_decay, 0, true, kLarge, true},
           Bound{"optimizer.initialAccumulator", options.initial_accumulator, 0, !adagrad, kLarge,
                 true},
           Bound{"optimizer.rho", options.rho, 0, true, 1, false},
           Bound{"optimizer.learningRatePower", options.learning_rate_power, -10, true, 0, true},
           Bound{"optimizer.l1", options.l1, 0, true, kLarge, true},
           Bound{"optimizer.l2", options.l2, 0, true, kLarge, true},
           Bound{"movingAverage.decay", options.average_decay.value_or(0), 0, true, 1, false},
       }) {
    RETURN_IF_ERROR(CheckBound(bound));
  }
  return absl::OkStatus();
}

}  // namespace

std::string KnownOptimizers() { return "sgd, momentum, adam, adamw, adagrad, rmsprop, ftrl"; }

absl::StatusOr<std::unique_ptr<Optimizer>> Optimizer::Make(const OptimizerOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  std::unique_ptr<Optimizer> rule = MakeRule(options);
  if (rule != nullptr) return rule;
  const std::string meant = DidYouMean(options.name, absl::StrSplit(KnownOptimizers(), ", "));
  return absl::InvalidArgumentError("optimizer.name: there is no optimizer \"" + options.name +
                                    "\"; " + meant + (meant.empty() ? "" : " ") +
                                    "known: " + KnownOptimizers());
}

}  // namespace taas
