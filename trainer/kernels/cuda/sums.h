// What the kernels of sums over neighbouring axes take, and of the reverse, which repeats elements.

#ifndef TRAINER_KERNELS_CUDA_SUMS_H_
#define TRAINER_KERNELS_CUDA_SUMS_H_

#include <cstdint>

namespace taas::cuda {

// What is added of an element.
enum class Term : int { kItself, kSquare, kSize };

// y[row, part] = factor * the sum over the part's share of x[row, columns].
struct RowSumsParams {
  const float* x;
  float* y;
  int64_t rows;
  int64_t columns;
  int64_t parts;  // Of each row, a block for each; 1 where a warp takes a row.
  int64_t share;  // Columns of a part; the last may have fewer.
  float factor;
  Term term;
};

// y[outer, part, inner] = factor * the sum over the part's share of the axis between of
// x[outer, middle, inner].
struct ColumnSumsParams {
  const float* x;
  float* y;
  int64_t middle;
  int64_t inner;
  int64_t tiles;  // Of columns, for each part and outer index.
  int64_t parts;
  int64_t share;  // Rows of a part; the last may have fewer.
  float factor;
};

// y[outer, middle, inner] = factor * x[outer, inner].
struct ExpandParams {
  const float* x;
  float* y;
  int64_t count;
  int64_t middle;
  int64_t inner;
  float factor;
  bool by_fours;  // by_fours.h; inner are fours, too.
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_SUMS_H_
