// The loops over arrays that are not matrix products, in one version per instruction set.
//
// The program starts on any x86-64; the best version for the machine is chosen once at run time.
// All versions are one text (loops_body.inc), compiled for several targets, so they differ in
// rounding only. Arrays may be of any size and alignment; an output may be one of the inputs, but
// must not overlap it otherwise.
//
// Ownership: none. Threads: any. Errors: none.
//
//   BestLoops().relu(x, y, n);

#ifndef TRAINER_LOOPS_LOOPS_H_
#define TRAINER_LOOPS_LOOPS_H_

#include <cstdint>
#include <span>

namespace taas {

// What the updates of optimizers need besides arrays, in TensorFlow's terms.
struct MomentumUpdate {
  float rate;
  float momentum;
};
struct AdamUpdate {
  float rate;  // With the correction of both moments for the step.
  float beta1;
  float rest1;  // 1 - beta1, which a beta near 1 in float would give with few digits.
  float beta2;
  float rest2;
  float epsilon;
  float shrink = 0;  // Share of the variable that goes: AdamW's rate · weight decay.
};
struct RmsPropUpdate {
  float rate;
  float momentum;
  float rest;  // 1 - rho.
  float epsilon;
};
struct FtrlUpdate {
  float per_rate;  // 1 / rate.
  float l1;
  float l2;  // Twice TensorFlow's.
};

struct Loops {
  const char* target;  // "baseline", "avx2", "avx512".

  void (*add)(const float* a, const float* b, float* out, int64_t n);
  void (*sub)(const float* a, const float* b, float* out, int64_t n);
  void (*mul)(const float* a, const float* b, float* out, int64_t n);
  void (*scale)(const float* x, float factor, float* out, int64_t n);
  void (*scale_bytes)(const uint8_t* x, float factor, float* out, int64_t n);
  // out = y + factor · x: the update of gradient descent.
  void (*add_scaled)(const float* y, float factor, const float* x, float* out, int64_t n);
  // accumulator = momentum · accumulator + g; out = w - rate · accumulator.
  void (*momentum)(const MomentumUpdate& update, const float* g, const float* w, float* out,
                   const float* accumulator, float* accumulator_out, int64_t n);
  // As momentum, but out = w - rate · (g + momentum · accumulator).
  void (*nesterov)(const MomentumUpdate& update, const float* g, const float* w, float* out,
                   const float* accumulator, float* accumulator_out, int64_t n);
  // m = beta1 · m + rest1 · g; v = beta2 · v + rest2 · g²;
  // out = w - (rate · m / (√v + epsilon) + shrink · w). moments = {m, v}.
  void (*adam)(const AdamUpdate& update, const float* g, const float* w, float* out,
               const float* const moments[2], float* const moments_out[2], int64_t n);
  // sum = sum + g²; out = w - rate · g / √sum.
  void (*adagrad)(float rate, const float* g, const float* w, float* out, const float* sum,
                  float* sum_out, int64_t n);
  // squares += rest · (g² - squares); move = momentum · move + rate · g / √(squares + epsilon);
  // out = w - move. slots = {squares, move}.
  void (*rmsprop)(const RmsPropUpdate& update, const float* g, const float* w, float* out,
                  const float* const slots[2], float* const slots_out[2], int64_t n);
  // As rmsprop, with mean += rest · (g - mean) and the root of squares - mean² + epsilon.
  // slots = {squares, mean, move}.
  void (*rmsprop_centered)(const RmsPropUpdate& update, const float* g, const float* w, float* out,
                           const float* const slots[3], float* const slots_out[3], int64_t n);
  // sum' = sum + g²; linear += g - (√sum' - √sum) · per_rate · w; out = 0 where |linear| <= l1,
  // else (sign(linear) · l1 - linear) / (√sum' · per_rate + l2). slots = {sum, linear}.
  void (*ftrl)(const FtrlUpdate& update, const float* g, const float* w, float* out,
               const float* const slots[2], float* const slots_out[2], int64_t n);
  // out = x, brought into [-limit, limit]; NaN stays.
  void (*clamp)(const float* x, float limit, float* out, int64_t n);
  // out = average - share · (average - x).
  void (*approach)(const float* average, const float* x, float share, float* out, int64_t n);
  // out = factor · (the sum of `count` arrays, added in their order). out may be the first of them.
  void (*scaled_sum)(const float* const* x, int64_t count, float factor, float* out, int64_t n);
  // out = x, for memory that nobody reads soon: past the caches, and without fetching what it
  // writes over, which is a third of a copy's work for the memory. Not in place; FinishPastCaches.
  void (*copy_past_caches)(const float* x, float* out, int64_t n);
  // out = factor · sign(x), 0 of 0.
  void (*scaled_sign)(const float* x, float factor, float* out, int64_t n);
  void (*relu)(const float* x, float* out, int64_t n);
  void (*relu_grad)(const float* dy, const float* y, float* out, int64_t n);
  void (*exp)(const float* x, float* out, int64_t n);
  void (*sigmoid)(const float* x, float* out, int64_t n);
  void (*sigmoid_grad)(const float* dy, const float* y, float* out, int64_t n);
  void (*tanh)(const float* x, float* out, int64_t n);
  void (*tanh_grad)(const float* dy, const float* y, float* out, int64_t n);
  // b[columns] is added to each row.
  void (*bias_add)(const float* x, const float* b, float* out, int64_t rows, int64_t columns);
  void (*bias_add_relu)(const float* x, const float* b, float* out, int64_t rows, int64_t columns);
  // probabilities = softmax of each row of x, which is the same memory or another. sums[row] is
  // the sum of exp(x - largest[row]).
  void (*softmax)(const float* x, float* probabilities, float* largest, float* sums, int64_t rows,
                  int64_t columns);
  float (*sum)(const float* x, int64_t n);
  float (*sum_squares)(const float* x, int64_t n);
  float (*sum_absolute)(const float* x, int64_t n);
  // The sum of the squares of a - b.
  float (*squared_distance)(const float* a, const float* b, int64_t n);
  // out[columns] = the sum of the rows.
  void (*sum_rows)(const float* x, float* out, int64_t rows, int64_t columns);
};

const Loops& BestLoops();
// After copies past the caches, before other threads are told of them.
void FinishPastCaches();
// All versions that this machine can run, the baseline first. For tests.
std::span<const Loops* const> SupportedLoops();

}  // namespace taas

#endif  // TRAINER_LOOPS_LOOPS_H_
