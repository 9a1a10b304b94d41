// The loops of sequence ops: layer normalization, GELU, the softmax of attention, the cells of an
// LSTM. One version per instruction set, as loops.h has them.
//
// Ownership: none. Threads: any. Errors: none.
//
//   BestSequenceLoops().gelu(x, y, n);

#ifndef TRAINER_LOOPS_SEQUENCE_LOOPS_H_
#define TRAINER_LOOPS_SEQUENCE_LOOPS_H_

#include <cstdint>
#include <span>

namespace taas {

// Of x[rows, columns]; one number per row.
struct RowMoments {
  float* mean = nullptr;
  float* inverse = nullptr;  // 1 / √(variance + epsilon).
};

// Of one step of one example; arrays of `units`, gates of 4 · units.
struct LstmCell {
  float* gates = nullptr;        // Before their functions, then after.
  const float* before = nullptr; // The cells of the step before; null: zeroes.
  float* cells = nullptr;
  float* y = nullptr;
};
struct LstmCellGradient {
  const float* gates = nullptr;
  const float* before = nullptr;
  const float* cells = nullptr;
  const float* dy = nullptr;
  const float* dy_later = nullptr;  // From the step after, added to dy; null: none.
  float* dcells = nullptr;          // In: from the step after; out: for the step before.
  float* dgates = nullptr;          // Of the values before the functions.
};

struct SequenceLoops {
  void (*layer_norm)(const float* x, const float* scale, const float* offset, float epsilon,
                     int64_t rows, int64_t columns, float* y, RowMoments moments);
  // dscale and doffset are added to.
  void (*layer_norm_grad)(const float* dy, const float* x, const float* scale, const float* mean,
                          const float* inverse, int64_t rows, int64_t columns, float* dx,
                          float* dscale, float* doffset);
  void (*gelu)(const float* x, float* y, int64_t n);
  void (*gelu_grad)(const float* dy, const float* x, float* dx, int64_t n);
  // x = exp(scale · x - its largest) / the sum of that; returns the logarithm of the sum of
  // exp(scale · x). n ≥ 1.
  float (*softmax_row)(float* x, float scale, int64_t n);
  // p = exp(scale · p - log_sum); dp = p · (dp - mean) · scale.
  void (*softmax_row_grad)(float* p, float* dp, float scale, float log_sum, float mean, int64_t n);
  float (*dot)(const float* a, const float* b, int64_t n);
  void (*lstm_cell)(const LstmCell& cell, int64_t units);
  void (*lstm_cell_grad)(const LstmCellGradient& cell, int64_t units);
};

const SequenceLoops& BestSequenceLoops();
// All versions that this machine can run, the baseline first. For tests.
std::span<const SequenceLoops* const> SupportedSequenceLoops();

}  // namespace taas

#endif  // TRAINER_LOOPS_SEQUENCE_LOOPS_H_
