// The memory of the devices that stand for GPUs: each has its own, closed to the host, and to what
// runs on another device.
//
// Ownership: owns all memory. Threads: any, but With, of one at a time. Errors: 0 for memory that
// there is not; who touches what is closed ends with a signal.
//
//   const uint64_t address = memory.of(1).Allocate(bytes);
//   memory.With(1, [&] { return RunKernel(); });  // Sees that of device 1 and of the host.

#ifndef TRAINER_CUDA_FAKE_FAKE_MEMORY_H_
#define TRAINER_CUDA_FAKE_FAKE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "absl/functional/function_ref.h"
#include "trainer/testing/closed_memory.h"

namespace taas::cuda::fake {

class FakeMemory {
 public:
  static constexpr int kNone = -1, kAll = -2;

  ClosedMemory& of(int device);
  // The device in whose memory all of the bytes are one allocation's; kNone: there is none.
  int DeviceOf(uint64_t address, size_t bytes);
  // Whether any of the bytes lies in memory of a device.
  bool Touches(uint64_t address, size_t bytes);
  // False where no allocation begins there.
  bool Free(uint64_t address);
  size_t count();

  // With the memory of that device open, or of all (kAll), and all other closed; then as before.
  int With(int device, absl::FunctionRef<int()> work);

 private:
  void Switch(int device);

  std::mutex mutex_;
  std::map<int, ClosedMemory> devices_;
  int open_ = kNone;
};

}  // namespace taas::cuda::fake

#endif  // TRAINER_CUDA_FAKE_FAKE_MEMORY_H_
