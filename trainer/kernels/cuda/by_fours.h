// Whether kernels may move four floats at once: only at multiples of 16 bytes. Tensors begin at
// such, but an output may lie anywhere in a larger one.
//
// Ownership: none. Threads: any. Errors: none.
//
//   const bool by_fours = ByFours({call.in(0), call.out()});

#ifndef TRAINER_KERNELS_CUDA_BY_FOURS_H_
#define TRAINER_KERNELS_CUDA_BY_FOURS_H_

#include <cstdint>
#include <initializer_list>

namespace taas::cuda {

// What all of them are multiples of, at most 16 bytes.
inline int64_t AlignmentOf(std::initializer_list<const void*> pointers) {
  uintptr_t bits = 16;
  for (const void* const pointer : pointers) bits |= reinterpret_cast<uintptr_t>(pointer);
  return static_cast<int64_t>(bits & (~bits + 1));
}

inline bool ByFours(std::initializer_list<const void*> pointers) {
  return AlignmentOf(pointers) == 16;
}

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_BY_FOURS_H_
