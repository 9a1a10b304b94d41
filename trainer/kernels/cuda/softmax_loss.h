// The softmax of rows of logits, the mean of its cross entropy with labels, and the gradient.

#ifndef TRAINER_KERNELS_CUDA_SOFTMAX_LOSS_H_
#define TRAINER_KERNELS_CUDA_SOFTMAX_LOSS_H_

#include <cstdint>

#include "trainer/kernels/cuda/report.h"

namespace taas::cuda {

// result = scale · softmax of each row, less `at_label` at its label: the probabilities (1, 0), or
// the gradient of the mean loss (dloss / rows, both); row_losses[row] = -log of the label's
// probability, anything where the label is none of the classes.
struct SoftmaxLossParams {
  const float* logits;
  const int32_t* labels;
  float* result;
  float* row_losses;
  int64_t rows;
  int64_t classes;
  float scale;
  float at_label;
};

// loss = the mean of row_losses, 0 of none; reports the first label that is none of the classes.
struct MeanLossParams {
  const float* row_losses;
  const int32_t* labels;
  float* loss;
  int64_t rows;
  int64_t classes;
  ReportTo report;
};

// dlogits = (probabilities - 1 where the class is the label) · dloss / rows, in place or not. One
// block more than rows need reports the first label that is none of the classes. `by_fours`: all
// rows begin at multiples of 16 bytes and are fours.
struct SoftmaxLossGradParams {
  const float* probabilities;
  const int32_t* labels;
  const float* dloss;
  float* dlogits;
  int64_t rows;
  int64_t classes;
  bool by_fours;
  ReportTo report;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_SOFTMAX_LOSS_H_
