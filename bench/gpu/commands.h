// The commands of the program gpu_bench: what each adds to its file, a row for each thing that it
// looks at. docs/gpu.md says what they measure.
//
// Ownership: borrow all. Threads: one. Errors: of a row are the row's "error", and "missing" where
// the GPU lacks a kernel; a device that is lost fails all rows that come after.
//
//   const bool clean = CompareSteps(context);

#ifndef BENCH_GPU_COMMANDS_H_
#define BENCH_GPU_COMMANDS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "bench/gpu/result_file.h"
#include "bench/gpu/rows.h"
#include "operator/base/clock.h"
#include "trainer/cuda/cuda_runtime.h"

namespace taas::bench {

struct Context {
  const cuda::CudaRuntime& gpus;
  const Clock& clock;
  ResultFile& file;
  Size size = Size::kWhole;
  std::string only;        // Rows whose name has this.
  double seconds = 2;      // Of measuring a row, beside its warm-up.
  int64_t bytes = 64 << 20;  // Of an array that a kernel reads or writes.
  int threads = 1;         // Of the processor.

  // Of a kernel in one captured program.
  int launches() const { return size == Size::kSmall ? 2 : 20; }
  bool Wants(const std::string& name) const { return name.find(only) != std::string::npos; }
};

// Twenty steps of each model here and there. {"name", "difference", "tolerance", "variables",
// "sameBits", "clean"…}: differences of losses and of variables are in parts of the largest.
// True if each is clean.
bool CompareSteps(const Context& context);
inline constexpr int kComparedSteps = 20;

// Milliseconds per step, by rounds: {"name", "batch", "precision", "ms", "rounds",
// "examplesPerSecond"…}.
void MeasureModels(const Context& context);

// Bytes per second of kernels that are bound by memory, beside a copy on the device:
// {"name", "bytes", "ms", "gigabytesPerSecond", "shareOfCopy"}.
void MeasureKernels(const Context& context);

// Each convolution by the device's plan and as products of patches: {"name", "part", "precision",
// "flop", "patchesMs"} and, where there is a plan, {"plannedMs", "timesAsFast"}.
void MeasureConvolutions(const Context& context);

// Each attention in bfloat16 by the device's plan and as products with softmax: {"name", "part",
// "precision", "flop", "productsMs"} and, where there is a plan, {"plannedMs", "timesAsFast"}.
void MeasureAttentions(const Context& context);

// {"error"}, or {"missing"} of a kernel that there is not.
nlohmann::json TroubleOf(const std::string& name, const absl::Status& status);

}  // namespace taas::bench

#endif  // BENCH_GPU_COMMANDS_H_
