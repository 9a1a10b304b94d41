// What kernels take that compute each element from the elements at the same place.
//
// The result may be any of the inputs. `by_fours`: four elements may be moved at once (by_fours.h).

#ifndef TRAINER_KERNELS_CUDA_ELEMENTWISE_H_
#define TRAINER_KERNELS_CUDA_ELEMENTWISE_H_

#include <cstdint>

namespace taas::cuda {

// y[i] = f(x[i]).
struct OneInputParams {
  const float* x;
  float* y;
  int64_t count;
  bool by_fours;
};

// y[i] = f(a[i], b[i]). Of a gradient, `a` is what arrives, and `b` the output or the input.
struct TwoInputsParams {
  const float* a;
  const float* b;
  float* y;
  int64_t count;
  bool by_fours;
};

// y[i] = factor * x[i].
struct ScaleParams {
  const float* x;
  float* y;
  int64_t count;
  float factor;
  bool by_fours;
};

// y[i] = average[i] - share * (average[i] - x[i]).
struct MovingAverageParams {
  const float* average;
  const float* x;
  float* y;
  int64_t count;
  float share;
  bool by_fours;
};

// y[i] = f(x[i], *factor): the factor was computed on the GPU.
struct ByFactorParams {
  const float* x;
  const float* factor;
  float* y;
  int64_t count;
  bool by_fours;
};

// y[i] = f(x[i], b[i % columns]): b is added to each row. `by_fours`: columns are fours, too.
struct BiasParams {
  const float* x;
  const float* b;
  float* y;
  int64_t count;
  int64_t columns;
  bool by_fours;
};

// y[i] = a[i] + *factor * x[i].
struct AddByFactorParams {
  const float* a;
  const float* x;
  const float* factor;
  float* y;
  int64_t count;
  bool by_fours;
};

// y[i] = x[0][i] + x[1][i] + … in this order.
struct AddNParams {
  // More take another launch, which begins with the sum of those before.
  static constexpr int kInputsMax = 16;

  const float* x[kInputsMax];
  int inputs;  // At least one.
  float* y;
  int64_t count;
  bool by_fours;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_ELEMENTWISE_H_
