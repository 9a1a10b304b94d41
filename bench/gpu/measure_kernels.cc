#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "bench/gpu/commands.h"
#include "bench/gpu/kernel_cases.h"
#include "bench/gpu/kernel_run.h"
#include "bench/gpu/rounds.h"
#include "operator/base/status.h"

namespace taas::bench {
namespace {

nlohmann::json RowOf(const std::string& name, int64_t bytes, double ms, double copy) {
  const double rate = static_cast<double>(bytes) / ms / 1e6;
  nlohmann::json row = {
      {"name", name}, {"bytes", bytes}, {"ms", ms}, {"gigabytesPerSecond", rate}};
  row["shareOfCopy"] = copy > 0 ? rate / copy : 1;
  return row;
}

// Of a copy from one array to another on the device, which reads one and writes one.
absl::StatusOr<nlohmann::json> MeasureCopy(const Context& context) {
  Device& device = context.gpus.device(0);
  const auto bytes = static_cast<size_t>(context.bytes);
  ASSIGN_OR_RETURN(const Buffer from, device.Allocate(bytes));
  ASSIGN_OR_RETURN(const Buffer to, device.Allocate(bytes));
  const std::unique_ptr<Stream> stream = device.MakeStream();
  const int launches = context.launches();
  ASSIGN_OR_RETURN(const auto program, stream->Capture([&] {
    absl::Status status;
    for (int i = 0; i < launches && status.ok(); ++i) {
      status = stream->Copy(to.data(), from.data(), bytes);
    }
    return status;
  }));
  ASSIGN_OR_RETURN(const Rounds rounds,
                   MeasureRounds(context.clock, context.seconds, [&]() -> absl::Status {
                     RETURN_IF_ERROR(program->Launch(*stream));
                     return stream->Synchronize();
                   }));
  return RowOf("copy", 2 * context.bytes, rounds.median() / launches, 0);
}

absl::StatusOr<nlohmann::json> Measure(const Context& context, const KernelCase& of, double copy) {
  const int launches = context.launches();
  KernelRun run(context.gpus.device(0), of, launches);
  RETURN_IF_ERROR(run.Make(context.gpus.runtime().kernels));
  ASSIGN_OR_RETURN(const Rounds rounds, MeasureRounds(context.clock, context.seconds,
                                                      [&] { return run.Once(); }));
  RETURN_IF_ERROR(run.Check());
  return RowOf(of.name, run.moved_bytes(), rounds.median() / launches, copy);
}

}  // namespace

void MeasureKernels(const Context& context) {
  auto copied = MeasureCopy(context);
  if (!copied.ok()) {
    context.file.Add(TroubleOf("copy", copied.status()));
    return;
  }
  const double copy = (*copied)["gigabytesPerSecond"];
  context.file.Add(*std::move(copied));
  for (const KernelCase& of : KernelCases(context.bytes)) {
    if (!context.Wants(of.name)) continue;
    auto measured = Measure(context, of, copy);
    context.file.Add(measured.ok() ? *std::move(measured)
                                   : TroubleOf(of.name, measured.status()));
  }
}

}  // namespace taas::bench
