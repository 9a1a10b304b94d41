// Kernels that compute each element from the elements at the same place.

#ifndef TRAINER_KERNELS_CUDA_ELEMENTWISE_H_
#define TRAINER_KERNELS_CUDA_ELEMENTWISE_H_

#include <cstdint>

namespace taas::cuda {

// y[i] = factor * x[i]; x may be y.
struct ScaleParams {
  const float* x;
  float* y;
  int64_t count;
  float factor;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_ELEMENTWISE_H_
