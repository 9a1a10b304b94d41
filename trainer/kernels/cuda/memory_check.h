// Patterns in the memory of a device, and what is not as it was written.

#ifndef TRAINER_KERNELS_CUDA_MEMORY_CHECK_H_
#define TRAINER_KERNELS_CUDA_MEMORY_CHECK_H_

#include <cstdint>

namespace taas::cuda {

struct PatternParams {
  uint64_t* words;
  int64_t count;
  uint64_t seed;
};

struct MemoryFaults {
  unsigned long long count;
  unsigned long long first;  // The word; 2^64 - 1: none.
};

struct PatternCheckParams {
  const uint64_t* words;
  int64_t count;
  uint64_t seed;  // Of the PatternParams.
  MemoryFaults* faults;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_MEMORY_CHECK_H_
