#include <utility>

#include "absl/status/statusor.h"
#include "bench/gpu/attention_cases.h"
#include "bench/gpu/commands.h"
#include "bench/gpu/kernel_cases.h"
#include "bench/gpu/kernel_run.h"
#include "bench/gpu/rounds.h"
#include "operator/base/status.h"
#include "trainer/kernels/cuda/attention_ops.h"
#include "trainer/kernels/cuda/planned_attention.h"

namespace taas::bench {
namespace {

// Each takes long enough that its launch is little of it.
constexpr int kLaunches = 4;

absl::StatusOr<double> MsOf(const Context& context, const KernelCase& of, bool planned) {
  KernelRegistry kernels;
  cuda::AddAttentionKernels(&kernels, {.planned = planned});
  KernelRun run(context.gpus.device(0), of, kLaunches);
  RETURN_IF_ERROR(run.Make(kernels));
  ASSIGN_OR_RETURN(const Rounds rounds, MeasureRounds(context.clock, context.seconds,
                                                      [&] { return run.Once(); }));
  return rounds.median() / kLaunches;
}

absl::StatusOr<nlohmann::json> Measure(const Context& context, const AttentionCase& of) {
  const KernelCase kernel = KernelOf(of);
  nlohmann::json row = {{"name", of.name},
                        {"part", kernel.op},
                        {"precision", NameOf(kernel.products)},
                        {"flop", FlopOf(of)}};
  ASSIGN_OR_RETURN(const double products, MsOf(context, kernel, /*planned=*/false));
  row["productsMs"] = products;
  if (cuda::PlanFor(context.gpus.device(0), of.shape) == nullptr) return row;
  ASSIGN_OR_RETURN(const double planned, MsOf(context, kernel, /*planned=*/true));
  row["plannedMs"] = planned;
  row["timesAsFast"] = products / planned;
  return row;
}

}  // namespace

void MeasureAttentions(const Context& context) {
  for (const AttentionCase& of : AttentionCases(context.size)) {
    if (!context.Wants(of.name)) continue;
    auto measured = Measure(context, of);
    context.file.Add(measured.ok() ? *std::move(measured) : TroubleOf(of.name, measured.status()));
  }
}

}  // namespace taas::bench
