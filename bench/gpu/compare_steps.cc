#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/gpu/commands.h"
#include "bench/gpu/training.h"
#include "operator/base/status.h"
#include "trainer/kernels/cpu/cpu_runtime.h"

namespace taas::bench {
namespace {

struct Trained {
  std::vector<float> losses;
  Training::Values variables;
  double seconds = 0;
  bool operator==(const Trained& other) const {
    return losses == other.losses && variables == other.variables;
  }
};

absl::StatusOr<Trained> Train(const Context& context, const Runtime& runtime, const Row& row) {
  const Clock::Time began = context.clock.Now();
  ASSIGN_OR_RETURN(const auto training, Training::Make(runtime, row, context.threads));
  Trained trained;
  for (int step = 0; step < kComparedSteps; ++step) {
    RETURN_IF_ERROR(training->Step());
    RETURN_IF_ERROR(training->Finish());
    trained.losses.push_back(training->loss());
  }
  ASSIGN_OR_RETURN(trained.variables, training->Variables());
  trained.seconds = std::chrono::duration<double>(context.clock.Now() - began).count();
  return trained;
}

// Infinite where one is no number.
double Apart(double got, double wanted, double unit) {
  const double apart = got == wanted ? 0 : std::abs(got - wanted) / unit;
  return std::isfinite(apart) ? apart : HUGE_VAL;
}

double LossesApart(std::span<const float> got, std::span<const float> wanted) {
  double largest = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    largest = std::max(largest, Apart(got[i], wanted[i], std::abs(wanted[i])));
  }
  return largest;
}

// In parts of the largest element of a variable.
double VariablesApart(const Trained& got, const Trained& wanted) {
  double largest = 0;
  for (size_t i = 0; i < wanted.variables.size(); ++i) {
    double unit = 1e-3;  // Of variables that are all but zero.
    for (const float value : wanted.variables[i]) {
      unit = std::max(unit, std::abs(static_cast<double>(value)));
    }
    for (size_t j = 0; j < wanted.variables[i].size(); ++j) {
      largest = std::max(largest, Apart(got.variables[i][j], wanted.variables[i][j], unit));
    }
  }
  return largest;
}

// What is all but zero is compared in parts of this share of all gradients: of a bias that changes
// nothing, as that of an attention's keys, both sides have what rounding has left.
constexpr double kLeastShare = 1e-3;

double Length(std::span<const float> values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  return std::sqrt(squares);
}

// The length of the difference in parts of the gradient's own, of the variable where that is most.
double GradientsApart(const Training::Values& got, const Training::Values& wanted) {
  double squares = 0;
  for (const auto& gradient : wanted) squares += std::pow(Length(gradient), 2);
  const double least = std::max(kLeastShare * std::sqrt(squares), 1e-30);
  double largest = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    std::vector<float> apart(wanted[i].size());
    std::transform(got[i].begin(), got[i].end(), wanted[i].begin(), apart.begin(), std::minus());
    largest = std::max(largest, Apart(Length(apart), 0, std::max(least, Length(wanted[i]))));
  }
  return largest;
}

struct InStep {
  double loss = 0;  // The largest of all steps.
  // The median: an activation that rounding moves across a ReLU's kink changes those of one step.
  double gradients = 0;
};

// Each step there begins with the variables with which it begins here, so that what rounding makes
// of one step does not grow in the next.
absl::StatusOr<InStep> TrainInStep(const Context& context, const Runtime& there, const Row& row) {
  ASSIGN_OR_RETURN(const auto wanted, Training::Make(CpuRuntime(), row, context.threads));
  ASSIGN_OR_RETURN(const auto got, Training::Make(there, row, context.threads));
  InStep apart;
  std::vector<double> gradients_apart;
  for (int step = 0; step < kComparedSteps; ++step) {
    ASSIGN_OR_RETURN(const Training::Values variables, wanted->Variables());
    RETURN_IF_ERROR(got->SetVariables(variables));
    for (Training* const training : {wanted.get(), got.get()}) {
      RETURN_IF_ERROR(training->Step());
      RETURN_IF_ERROR(training->Finish());
    }
    apart.loss = std::max(apart.loss, Apart(got->loss(), wanted->loss(), std::abs(wanted->loss())));
    ASSIGN_OR_RETURN(const Training::Values here, wanted->Gradients());
    ASSIGN_OR_RETURN(const Training::Values gradients, got->Gradients());
    gradients_apart.push_back(GradientsApart(gradients, here));
  }
  const auto middle = gradients_apart.begin() + kComparedSteps / 2;
  std::ranges::nth_element(gradients_apart, middle);
  apart.gradients = *middle;
  return apart;
}

}  // namespace

bool CompareSteps(const Context& context) {
  bool all_clean = true;
  for (const Row& row : ComparedRows(context.size)) {
    if (!context.Wants(row.name)) continue;
    const auto got = Train(context, context.gpus.runtime(), row);
    if (!got.ok()) {
      nlohmann::json trouble = TroubleOf(row.name, got.status());
      all_clean = all_clean && trouble.contains("missing");
      context.file.Add(std::move(trouble));
      continue;
    }
    const auto again = Train(context, context.gpus.runtime(), row);
    const auto wanted = Train(context, CpuRuntime(), row);
    const auto in_step = TrainInStep(context, context.gpus.runtime(), row);
    if (!again.ok() || !wanted.ok() || !in_step.ok()) {
      all_clean = false;
      context.file.Add(TroubleOf(row.name, !again.ok()    ? again.status()
                                           : !wanted.ok() ? wanted.status()
                                                          : in_step.status()));
      continue;
    }
    const double difference = LossesApart(got->losses, wanted->losses);
    const bool same_bits = *again == *got;
    const Tolerance& allowed = row.tolerance;
    const bool clean = difference <= allowed.training && in_step->loss <= allowed.loss &&
                       in_step->gradients <= allowed.gradients && same_bits;
    all_clean = all_clean && clean;
    context.file.Add({{"name", row.name},
                      {"batch", row.batch},
                      {"precision", NameOf(row.precision)},
                      {"difference", difference},
                      {"tolerance", allowed.training},
                      {"lossInStep", in_step->loss},
                      {"lossInStepTolerance", allowed.loss},
                      {"gradientsInStep", in_step->gradients},
                      {"gradientsInStepTolerance", allowed.gradients},
                      {"variables", VariablesApart(*got, *wanted)},
                      {"losses", {wanted->losses.front(), wanted->losses.back()}},
                      {"sameBits", same_bits},
                      {"clean", clean},
                      {"processorSeconds", wanted->seconds},
                      {"gpuSeconds", got->seconds}});
  }
  return all_clean;
}

}  // namespace taas::bench
