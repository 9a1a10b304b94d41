// Kernels for which a device may have a plan: by it, and in the way without.

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/gpu/attention_cases.h"
#include "bench/gpu/commands.h"
#include "bench/gpu/conv_cases.h"
#include "bench/gpu/kernel_cases.h"
#include "bench/gpu/kernel_run.h"
#include "bench/gpu/rounds.h"
#include "operator/base/status.h"
#include "trainer/kernels/cuda/attention_ops.h"
#include "trainer/kernels/cuda/conv_ops.h"
#include "trainer/kernels/cuda/gpu_device.h"
#include "trainer/kernels/cuda/planned_attention.h"

namespace taas::bench {
namespace {

// Each takes long enough that its launch is little of it.
constexpr int kLaunches = 4;

template <typename Case>
struct Ways {
  const char* without;  // The field of the way without a plan.
  void (*add)(KernelRegistry* kernels, bool planned);
  bool (*has_plan)(cuda::GpuDevice& device, const Case& of);
};

constexpr Ways<ConvCase> kConvolutions = {
    .without = "patchesMs",
    .add = [](KernelRegistry* kernels, bool planned) {
      cuda::AddConvKernels(kernels, {.planned = planned});
    },
    .has_plan = [](cuda::GpuDevice& device, const ConvCase& of) {
      return device.PlanConvolution(ShapeOf(of)) != nullptr;
    }};

constexpr Ways<AttentionCase> kAttentions = {
    .without = "productsMs",
    .add = [](KernelRegistry* kernels, bool planned) {
      cuda::AddAttentionKernels(kernels, {.planned = planned});
    },
    .has_plan = [](cuda::GpuDevice& device, const AttentionCase& of) {
      return cuda::PlanFor(device, of.shape) != nullptr;
    }};

absl::StatusOr<double> MsOf(const Context& context, const KernelCase& of,
                            const KernelRegistry& kernels) {
  KernelRun run(context.gpus.device(0), of, kLaunches);
  RETURN_IF_ERROR(run.Make(kernels));
  ASSIGN_OR_RETURN(const Rounds rounds, MeasureRounds(context.clock, context.seconds,
                                                      [&] { return run.Once(); }));
  return rounds.median() / kLaunches;
}

template <typename Case>
absl::StatusOr<nlohmann::json> Measure(const Context& context, const Ways<Case>& ways,
                                       const Case& of) {
  const KernelCase kernel = KernelOf(of);
  const auto ms_of = [&](bool planned) {
    KernelRegistry kernels;
    ways.add(&kernels, planned);
    return MsOf(context, kernel, kernels);
  };
  nlohmann::json row = {{"name", of.name},
                        {"part", kernel.op},
                        {"precision", NameOf(kernel.products)},
                        {"flop", FlopOf(of)}};
  ASSIGN_OR_RETURN(const double without, ms_of(/*planned=*/false));
  row[ways.without] = without;
  if (!ways.has_plan(context.gpus.device(0), of)) return row;
  ASSIGN_OR_RETURN(const double planned, ms_of(/*planned=*/true));
  row["plannedMs"] = planned;
  row["timesAsFast"] = without / planned;
  return row;
}

template <typename Case>
void MeasureAll(const Context& context, const Ways<Case>& ways, const std::vector<Case>& cases) {
  for (const Case& of : cases) {
    if (!context.Wants(of.name)) continue;
    auto measured = Measure(context, ways, of);
    context.file.Add(measured.ok() ? *std::move(measured) : TroubleOf(of.name, measured.status()));
  }
}

}  // namespace

void MeasureConvolutions(const Context& context) {
  MeasureAll(context, kConvolutions, ConvCases(context.size));
}

void MeasureAttentions(const Context& context) {
  MeasureAll(context, kAttentions, AttentionCases(context.size));
}

}  // namespace taas::bench
