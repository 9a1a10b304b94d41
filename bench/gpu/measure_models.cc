#include <memory>

#include "absl/status/statusor.h"
#include "bench/gpu/commands.h"
#include "bench/gpu/rounds.h"
#include "bench/gpu/training.h"
#include "operator/base/status.h"

namespace taas::bench {
namespace {

absl::StatusOr<nlohmann::json> Measure(const Context& context, const Row& row) {
  const Clock::Time began = context.clock.Now();
  ASSIGN_OR_RETURN(const auto training, Training::Make(context.gpus.runtime(), row));
  const Clock::Time made = context.clock.Now();
  RETURN_IF_ERROR(training->Step());
  RETURN_IF_ERROR(training->Finish());
  const std::chrono::duration<double> making = made - began, first = context.clock.Now() - made;
  ASSIGN_OR_RETURN(const Rounds rounds, MeasureRounds(context.clock, context.seconds,
                                                      [&] { return training->Step(); }));
  RETURN_IF_ERROR(training->Finish());
  return nlohmann::json{{"name", row.name},
                        {"batch", row.batch},
                        {"precision", NameOf(row.precision)},
                        {"parameters", training->parameters()},
                        {"ms", rounds.median()},
                        {"rounds", rounds.ms},
                        {"stepsPerRound", rounds.times},
                        {"examplesPerSecond", 1e3 * static_cast<double>(row.batch) /
                                                  rounds.median()},
                        {"makingSeconds", making.count()},
                        {"firstStepSeconds", first.count()},
                        {"loss", training->loss()}};
}

}  // namespace

void MeasureModels(const Context& context) {
  for (const Row& row : MeasuredRows(context.size)) {
    if (!context.Wants(row.name)) continue;
    auto measured = Measure(context, row);
    context.file.Add(measured.ok() ? *std::move(measured)
                                   : TroubleOf(row.name, measured.status()));
  }
}

}  // namespace taas::bench
