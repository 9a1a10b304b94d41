// What the kernels take that make bfloat16 of floats, and floats of them.

#ifndef TRAINER_KERNELS_CUDA_BFLOAT16_H_
#define TRAINER_KERNELS_CUDA_BFLOAT16_H_

#include <cstdint>

namespace taas::cuda {

// to[i] is from[i], rounded to the nearest, ties to even; NaN stays NaN. A row of the grid is an
// array. by_fours: all of them begin at multiples of 16 bytes (by_fours.h).
struct NarrowParams {
  static constexpr int kArraysMax = 3;

  struct Array {
    const float* from;
    uint16_t* to;
    int64_t count;
  };
  Array arrays[kArraysMax];
  bool by_fours;
};

// to[i] = from[i].
struct WidenParams {
  const uint16_t* from;
  float* to;
  int64_t count;
  bool by_fours;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_BFLOAT16_H_
