// What the softmax of attention takes, and its gradient: between the products, which are made for
// some heads at a time and some of their queries.

#ifndef TRAINER_KERNELS_CUDA_ATTENTION_H_
#define TRAINER_KERNELS_CUDA_ATTENTION_H_

#include <cstdint>

namespace taas::cuda {

// Scores of [heads, queries, keys], a row for each query of each head. Of causal ones the query in
// row i of a head sees first + i + 1 keys, of others all of them.
struct ScoreRows {
  int64_t rows;     // Of all heads.
  int64_t queries;  // Of each.
  int64_t keys;
  int64_t first;
  bool causal;
};

// scores = softmax(scale · scores) of each row, 0 of what it does not see; log_sums, of the heads'
// first queries and so far apart, are log Σ exp(scale · scores).
struct AttentionParams {
  float* scores;
  float* log_sums;
  int64_t log_sums_apart;
  float scale;
  ScoreRows rows;
};

// p: scores, then exp(scale · scores - log_sum); dp: its gradient, then that of the scores. dy and
// y are of the heads' first queries: `head` elements, `width` to the next query, `y_apart` to the
// next head.
struct AttentionGradParams {
  const float* dy;
  const float* y;
  const float* log_sums;
  float* p;
  float* dp;
  int64_t y_apart, log_sums_apart;
  int64_t width, head;
  float scale;
  ScoreRows rows;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_ATTENTION_H_
