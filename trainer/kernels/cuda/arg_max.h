// What the kernels take that look for the largest element of each row.

#ifndef TRAINER_KERNELS_CUDA_ARG_MAX_H_
#define TRAINER_KERNELS_CUDA_ARG_MAX_H_

#include <cstdint>

namespace taas::cuda {

// y[row] = the first of the largest of x[row, columns].
struct ArgMaxParams {
  const float* x;
  int32_t* y;
  int64_t rows;
  int columns;  // At least one.
};

// counts[block] = in how many of its rows the label is the first of the largest.
struct CountRightParams {
  const float* x;
  const int32_t* labels;
  int32_t* counts;
  int64_t rows;
  int columns;
};

// *y = the sum of the counts / rows.
struct ShareRightParams {
  const int32_t* counts;
  int count_of_counts;
  float* y;
  int64_t rows;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_ARG_MAX_H_
