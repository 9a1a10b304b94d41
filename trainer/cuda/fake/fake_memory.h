// Memory of the GPU that stands for one: closed (PROT_NONE) while nothing is computed, so that who
// touches it from the host ends with a signal; and pinned memory of the host.
//
// Ownership: owns what was allocated. Threads: any. Errors: 0 for memory that there is not.

#ifndef TRAINER_CUDA_FAKE_FAKE_MEMORY_H_
#define TRAINER_CUDA_FAKE_FAKE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace taas::cuda::fake {

class FakeMemory {
 public:
  // Of all allocations together.
  void SetLimit(size_t bytes);
  // At a page that nothing else is near to.
  uint64_t Allocate(size_t bytes);
  // False where nothing of the device begins there.
  bool Free(uint64_t address);
  // Whether all bytes are of one allocation.
  bool Contains(uint64_t address, size_t bytes);
  // Whether any lies in memory of the device.
  bool Touches(uint64_t address, size_t bytes);
  size_t count();
  size_t bytes();
  size_t limit();

  // In the middle of each allocation, while it is open.
  void FlipBits();

  // While a stream computes.
  void Open();
  void Close();

 private:
  int Protection() const;
  void Protect();

  std::mutex mutex_;
  std::map<uint64_t, size_t> sizes_;  // As asked for.
  size_t limit_ = 0, used_ = 0;
  int open_ = 0;
};

}  // namespace taas::cuda::fake

#endif  // TRAINER_CUDA_FAKE_FAKE_MEMORY_H_
