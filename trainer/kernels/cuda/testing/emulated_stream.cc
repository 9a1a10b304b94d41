#include "trainer/kernels/cuda/testing/emulated_stream.h"

#include <cstring>

#include "trainer/kernels/cuda/testing/emulated_functions.h"

namespace taas::cuda {

absl::Status EmulatedStream::LaunchFunction(int kernel, const Grid& grid, const void* params) {
  absl::Status status = emulator_.Run({.kernel = kKernels[kernel].name,
                                       .grid = {grid.x, grid.y, grid.z},
                                       .block = {grid.threads, 1, 1},
                                       .order = turns_.order,
                                       .seed = turns_.seed},
                                      [&] { kEmulatedFunctions[kernel](params); });
  ++launches_;
  const emulate::Counts& run = emulator_.counts();
  counts_.barriers += run.barriers;
  counts_.read_bytes += run.read_bytes;
  counts_.written_bytes += run.written_bytes;
  return status;
}

absl::Status EmulatedStream::Zero(void* memory, size_t bytes) {
  emulator_.memory().SetWritten(memory, true);
  std::memset(memory, 0, bytes);
  return absl::OkStatus();
}

absl::Status EmulatedStream::Launch(const Kernel& kernel, const KernelCall& call) {
  return kernel.run(call);
}

absl::Status EmulatedStream::Copy(void* to, const void* from, size_t bytes) {
  std::memcpy(to, from, bytes);
  return absl::OkStatus();
}

absl::Status EmulatedStream::Record(Event&) { return absl::UnimplementedError("events"); }
absl::Status EmulatedStream::Wait(Event&) { return absl::UnimplementedError("events"); }
absl::StatusOr<std::unique_ptr<Program>> EmulatedStream::Capture(
    absl::FunctionRef<absl::Status()>) {
  return absl::UnimplementedError("programs");
}

}  // namespace taas::cuda
