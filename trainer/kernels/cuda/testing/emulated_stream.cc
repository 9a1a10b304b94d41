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
  std::memset(memory, 0, bytes);
  return emulator_.memory().SetWritten(memory, bytes)
             ? absl::OkStatus()
             : absl::InvalidArgumentError("what is cleared lies in no buffer");
}

absl::Status EmulatedStream::Multiply(const Product& p) {
  emulate::MemoryWatch& memory = emulator_.memory();
  bool read = true, wrote = true;
  const auto value = [&](const float* at) {
    read = read && memory.IsWritten(at, sizeof(float));
    return *at;
  };
  for (int64_t i = 0; i < p.batch * p.m * p.n; ++i) {
    const int64_t matrix = i / (p.m * p.n), row = i / p.n % p.m, column = i % p.n;
    const float* const a = p.a + matrix * p.a_apart;
    const float* const b = p.b + matrix * p.b_apart;
    float* const c = p.c + matrix * p.c_apart + row * p.c_step() + column;
    float sum = p.adds ? value(c) : 0;
    for (int64_t j = 0; j < p.k; ++j) {
      sum += value(a + (p.transpose_a ? j * p.a_step() + row : row * p.a_step() + j)) *
             value(b + (p.transpose_b ? column * p.b_step() + j : j * p.b_step() + column));
    }
    if (p.epilogue == Epilogue::kBias) sum += value(p.vector + column);
    *c = sum;
    wrote = wrote && memory.SetWritten(c, sizeof(float));
  }
  for (int64_t column = 0; p.epilogue == Epilogue::kBiasGrad && column < p.n; ++column) {
    float sum = 0;
    for (int64_t j = 0; j < p.k; ++j) sum += value(p.b + j * p.b_step() + column);
    p.vector[column] = sum;
    wrote = wrote && memory.SetWritten(p.vector + column, sizeof(float));
  }
  ++launches_;
  if (!read) return absl::InvalidArgumentError("a product reads what nobody has written");
  return wrote ? absl::OkStatus()
               : absl::InvalidArgumentError("a product's result lies in no buffer");
}

absl::Status EmulatedStream::Convolve(const ConvPlan&, const ConvTensors&) {
  return absl::UnimplementedError("convolutions");
}

absl::Status EmulatedStream::Attend(const AttentionPlan&, const AttentionTensors&) {
  return absl::UnimplementedError("attentions");
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
