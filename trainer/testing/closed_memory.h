// Memory of a device that stands for one far from the host: closed (PROT_NONE) while nothing is
// computed, so that who touches it from the host ends with a signal.
//
// Ownership: owns what was allocated. Threads: any. Errors: 0 for memory that there is not.
//
//   const uint64_t address = memory.Allocate(bytes);  // Zeroed, at a page.
//   memory.Open();   // A kernel may use it,
//   memory.Close();  // and nobody any more.

#ifndef TRAINER_TESTING_CLOSED_MEMORY_H_
#define TRAINER_TESTING_CLOSED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>

namespace taas {

class ClosedMemory {
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
  size_t limit_ = std::numeric_limits<size_t>::max(), used_ = 0;
  int open_ = 0;
};

}  // namespace taas

#endif  // TRAINER_TESTING_CLOSED_MEMORY_H_
