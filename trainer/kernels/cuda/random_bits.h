// The numbers of SeededRandom (operator/base/random.h) in kernels, bit by bit.
//
// Source: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
//
// Ownership: values. Threads: each has its own. Errors: none.
//
//   SeededNumbers numbers{seed};
//   const uint64_t place = numbers.Below(9);

#ifndef TRAINER_KERNELS_CUDA_RANDOM_BITS_H_
#define TRAINER_KERNELS_CUDA_RANDOM_BITS_H_

#include <cstdint>

#if defined(__CUDACC__) || defined(TRAINER_CUDA_EMULATE_CUDA_ON_HOST_H_)

namespace taas::cuda {

inline constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

// Each bit of the result depends on each of x.
__device__ inline uint64_t SplitMix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

struct SeededNumbers {
  uint64_t state;  // The seed at first.

  __device__ uint64_t Next() { return SplitMix(state += kGolden); }
  __device__ uint64_t Below(uint64_t limit) {
    const uint64_t most = UINT64_MAX - (UINT64_MAX % limit + 1) % limit;
    uint64_t value = Next();
    while (value > most) value = Next();
    return value % limit;
  }
};

}  // namespace taas::cuda

#endif

#endif  // TRAINER_KERNELS_CUDA_RANDOM_BITS_H_
