// A stream of a GPU that is emulated: each launch runs at once, watched, in the order of threads
// and blocks that a test asks for (trainer/cuda/emulate).
//
// Memory is that of the emulator's DeviceBuffers. Captures, events and copies are not tested here
// (the driver that stands for NVIDIA's has them).
//
// Ownership: borrows the emulator. Threads: one at a time. Errors: the emulator's.
//
//   EmulatedStream stream(emulator, {.order = emulate::Order::kSeeded, .seed = 3});
//   RETURN_IF_ERROR(kernel.run({.inputs = …, .outputs = …, .stream = &stream}));

#ifndef TRAINER_KERNELS_CUDA_TESTING_EMULATED_STREAM_H_
#define TRAINER_KERNELS_CUDA_TESTING_EMULATED_STREAM_H_

#include <cstdint>
#include <memory>

#include "trainer/cuda/emulate/emulator.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {

class EmulatedStream : public GpuStream {
 public:
  struct Turns {
    emulate::Order order = emulate::Order::kAscending;
    uint64_t seed = 0;
  };
  EmulatedStream(emulate::Emulator& emulator, const Turns& turns)
      : emulator_(emulator), turns_(turns) {}

  absl::Status LaunchFunction(int kernel, const Grid& grid, const void* params) override;
  absl::Status Zero(void* memory, size_t bytes) override;
  // In plain loops.
  absl::Status Multiply(const Product& product) override;

  // There is no plan: a kernel that is emulated has no device.
  absl::Status Convolve(const ConvPlan& plan, const ConvTensors& tensors) override;
  absl::Status Attend(const AttentionPlan& plan, const AttentionTensors& tensors) override;

  absl::Status Launch(const Kernel& kernel, const KernelCall& call) override;
  absl::Status Copy(void* to, const void* from, size_t bytes) override;
  absl::Status Record(Event& event) override;
  absl::Status Wait(Event& event) override;
  absl::StatusOr<std::unique_ptr<Program>> Capture(
      absl::FunctionRef<absl::Status()> work) override;
  absl::Status Synchronize() override { return absl::OkStatus(); }

  int launches() const { return launches_; }
  const emulate::Counts& counts() const { return counts_; }  // Of all launches.

 private:
  emulate::Emulator& emulator_;
  const Turns turns_;
  int launches_ = 0;
  emulate::Counts counts_;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_TESTING_EMULATED_STREAM_H_
