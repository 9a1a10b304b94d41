#include <algorithm>
#include <cmath>
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
  std::vector<std::vector<float>> variables;
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
    if (!again.ok() || !wanted.ok()) {
      all_clean = false;
      context.file.Add(TroubleOf(row.name, again.ok() ? wanted.status() : again.status()));
      continue;
    }
    const double difference = LossesApart(got->losses, wanted->losses);
    const bool same_bits = *again == *got;
    const bool clean = difference <= row.tolerance && same_bits;
    all_clean = all_clean && clean;
    context.file.Add({{"name", row.name},
                      {"batch", row.batch},
                      {"precision", NameOf(row.precision)},
                      {"difference", difference},
                      {"tolerance", row.tolerance},
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
