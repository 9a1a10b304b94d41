// Places in a kernel's scratch memory.
//
// Ownership: none. Threads: any. Errors: none.
//
//   auto* const second = static_cast<std::byte*>(call.scratch) + Aligned(bytes_of_first);

#ifndef TRAINER_KERNELS_CPU_SCRATCH_H_
#define TRAINER_KERNELS_CPU_SCRATCH_H_

#include <cstddef>

namespace taas {

// Rounded up: whatever follows begins at a cache line.
inline size_t Aligned(size_t bytes) {
  constexpr size_t kLine = 64;
  return (bytes + kLine - 1) / kLine * kLine;
}

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_SCRATCH_H_
