#include "trainer/cuda/fake/fake_memory.h"

#include <algorithm>

namespace taas::cuda::fake {

ClosedMemory& FakeMemory::of(int device) {
  const std::lock_guard lock(mutex_);
  return devices_[device];
}

int FakeMemory::DeviceOf(uint64_t address, size_t bytes) {
  const std::lock_guard lock(mutex_);
  for (auto& [device, memory] : devices_) {
    if (memory.Contains(address, bytes)) return device;
  }
  return kNone;
}

bool FakeMemory::Touches(uint64_t address, size_t bytes) {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(
      devices_, [&](auto& memory) { return memory.second.Touches(address, bytes); });
}

bool FakeMemory::Free(uint64_t address) {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(devices_,
                             [&](auto& memory) { return memory.second.Free(address); });
}

size_t FakeMemory::count() {
  const std::lock_guard lock(mutex_);
  size_t count = 0;
  for (auto& [device, memory] : devices_) count += memory.count();
  return count;
}

int FakeMemory::With(int device, absl::FunctionRef<int()> work) {
  const int before = open_;
  Switch(device);
  const int result = work();
  Switch(before);
  return result;
}

void FakeMemory::Switch(int device) {
  const std::lock_guard lock(mutex_);
  for (auto& [number, memory] : devices_) {
    const bool was = open_ == kAll || open_ == number, is = device == kAll || device == number;
    if (is && !was) memory.Open();
    if (was && !is) memory.Close();
  }
  open_ = device;
}

}  // namespace taas::cuda::fake
