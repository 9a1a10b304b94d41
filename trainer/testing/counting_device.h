// A device that counts the bytes it is asked for, and is another one else.
//
// Ownership: borrows that device. Threads: as device.h. Errors: as that device.
//
//   CountingDevice device(FarDevice());
//   auto session = Session::Compile({{&device}, CpuRuntime().kernels}, graph, {.loss = "loss"});
//   device.asked(MemoryKind::kDevice);

#ifndef TRAINER_TESTING_COUNTING_DEVICE_H_
#define TRAINER_TESTING_COUNTING_DEVICE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "trainer/graph/device.h"

namespace taas {

class CountingDevice : public Device {
 public:
  explicit CountingDevice(Device& device) : device_(device) {}

  std::string_view type() const override { return device_.type(); }
  std::string name() const override { return device_.name(); }
  size_t alignment() const override { return device_.alignment(); }
  bool host_sees_memory() const override { return device_.host_sees_memory(); }
  bool prefers_programs() const override { return device_.prefers_programs(); }
  absl::StatusOr<Buffer> Allocate(size_t bytes, MemoryKind kind) override {
    asked_[static_cast<size_t>(kind)] += bytes;
    return device_.Allocate(bytes, kind);
  }
  std::unique_ptr<Stream> MakeStream() override { return device_.MakeStream(); }
  std::unique_ptr<Event> MakeEvent() override { return device_.MakeEvent(); }
  absl::Status Copy(void* to, const void* from, size_t bytes) override {
    return device_.Copy(to, from, bytes);
  }

  // Since it was made, whatever has been given back.
  size_t asked(MemoryKind kind) const { return asked_[static_cast<size_t>(kind)]; }

 private:
  Device& device_;
  std::array<std::atomic<size_t>, 2> asked_{};
};

}  // namespace taas

#endif  // TRAINER_TESTING_COUNTING_DEVICE_H_
