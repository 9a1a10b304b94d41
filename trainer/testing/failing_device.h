// The CPU, until it is told to fail: what a test makes of a device that breaks.
//
// Ownership: borrows the CPU's device. Threads: as device.h. Errors: Unavailable, once it fails.
//
//   FailingDevice device;
//   auto session = Session::Compile({{&device}, CpuRuntime().kernels}, graph, {.loss = "loss"});
//   device.fails_writing = session->variable(0).data();

#ifndef TRAINER_TESTING_FAILING_DEVICE_H_
#define TRAINER_TESTING_FAILING_DEVICE_H_

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "trainer/graph/device.h"
#include "trainer/kernels/cpu/cpu_runtime.h"

namespace taas {

class FailingDevice : public Device {
 public:
  std::string_view type() const override { return cpu_.type(); }
  std::string name() const override { return "failing"; }
  size_t alignment() const override { return cpu_.alignment(); }
  bool host_sees_memory() const override { return true; }
  absl::StatusOr<Buffer> Allocate(size_t bytes, MemoryKind kind) override {
    return cpu_.Allocate(bytes, kind);
  }
  std::unique_ptr<Stream> MakeStream() override { return std::make_unique<FailingStream>(*this); }
  std::unique_ptr<Event> MakeEvent() override { return cpu_.MakeEvent(); }
  absl::Status Copy(void* to, const void* from, size_t bytes) override {
    if (from == fails_reading) return absl::UnavailableError("the device does not answer");
    return cpu_.Copy(to, from, bytes);
  }

  // Copies from there fail, and kernels that write there.
  std::atomic<const void*> fails_reading = nullptr, fails_writing = nullptr;
  std::atomic<bool> fails_waiting = false;  // For what was launched.

 private:
  class FailingStream : public Stream {
   public:
    explicit FailingStream(FailingDevice& device)
        : device_(device), stream_(device.cpu_.MakeStream()) {}
    absl::Status Launch(const Kernel& kernel, const KernelCall& call) override {
      const void* const bad = device_.fails_writing;
      if (bad != nullptr && std::ranges::count(call.outputs, bad) > 0) {
        return absl::UnavailableError("the device does not answer");
      }
      return stream_->Launch(kernel, call);
    }
    absl::Status Copy(void* to, const void* from, size_t bytes) override {
      if (from == device_.fails_reading) {
        return absl::UnavailableError("the device does not answer");
      }
      return stream_->Copy(to, from, bytes);
    }
    absl::Status Record(Event& event) override { return stream_->Record(event); }
    absl::Status Wait(Event& event) override { return stream_->Wait(event); }
    absl::StatusOr<std::unique_ptr<Program>> Capture(
        absl::FunctionRef<absl::Status()> work) override {
      return stream_->Capture(work);
    }
    absl::Status Synchronize() override {
      const absl::Status ended = stream_->Synchronize();
      return device_.fails_waiting ? absl::UnavailableError("the device does not answer") : ended;
    }

   private:
    FailingDevice& device_;
    const std::unique_ptr<Stream> stream_;
  };

  Device& cpu_ = *CpuRuntime().devices[0];
};

}  // namespace taas

#endif  // TRAINER_TESTING_FAILING_DEVICE_H_
