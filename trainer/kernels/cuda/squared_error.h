// The mean of the squares of differences, and its gradient.

#ifndef TRAINER_KERNELS_CUDA_SQUARED_ERROR_H_
#define TRAINER_KERNELS_CUDA_SQUARED_ERROR_H_

#include <cstdint>

namespace taas::cuda {

// parts[block] = the sum of (a - b)² of that block's elements.
struct SquaredErrorParams {
  const float* a;
  const float* b;
  float* parts;
  int64_t count;
};

// mean = Σ parts / divisor, 0 of none.
struct MeanOfPartsParams {
  const float* parts;
  float* mean;
  int64_t count;
  int64_t divisor;
};

// da = (a - b) · 2 dloss / count; da may be a.
struct SquaredErrorGradParams {
  const float* a;
  const float* b;
  const float* dloss;
  float* da;
  int64_t count;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_SQUARED_ERROR_H_
