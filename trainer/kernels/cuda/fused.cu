// y[i] = the last result of a program of elementwise ops on inputs at i. Four elements a thread, in
// blocks of 256 (places.h); each thread runs the whole program, whose steps are the same for all:
// no branch parts a warp. Bound by memory as long as the program is short: 4 bytes per element for
// each input and for the result, and nothing for what lies between.
//
// Results stay in registers where the next step takes them, which is most. The others are kept in
// an array, which the compiler puts into the thread's own memory, in the first cache: it would need
// another kernel for each program to have them in registers.

#include "trainer/kernels/cuda/fused.h"

#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/places.h"

using namespace taas::cuda;

namespace {

template <typename V>
__device__ V Apply(const FusedStep& step, V a, V b) {
  switch (step.code) {
    case FusedStepCode::kAdd:
      return Each([](float x, float y) { return x + y; }, a, b);
    case FusedStepCode::kSub:
      return Each([](float x, float y) { return x - y; }, a, b);
    case FusedStepCode::kMul:
      return Each([](float x, float y) { return x * y; }, a, b);
    case FusedStepCode::kScale:
      return Each([&](float x) { return step.factor * x; }, a);
    case FusedStepCode::kRelu:
      return Each([](float x) { return x < 0.0f ? 0.0f : x; }, a);
    case FusedStepCode::kSigmoid:
      return Each([](float x) { return 1.0f / (1.0f + expf(-x)); }, a);
    case FusedStepCode::kTanh:
      return Each([](float x) { return tanhf(x); }, a);
    case FusedStepCode::kReluGrad:
      return Each([](float dy, float y) { return y > 0.0f ? dy : 0.0f; }, a, b);
    case FusedStepCode::kSigmoidGrad:
      return Each([](float dy, float y) { return dy * y * (1.0f - y); }, a, b);
    case FusedStepCode::kTanhGrad:
      return Each([](float dy, float y) { return dy * (1.0f - y * y); }, a, b);
    case FusedStepCode::kAddRelu:
      return Each(
          [](float x, float y) {
            const float sum = x + y;
            return sum < 0.0f ? 0.0f : sum;
          },
          a, b);
  }
  return a;
}

// Results that are kept, of one thread; each is written before it is read.
template <typename V>
struct Kept {
  V results[FusedParams::kKeptMax];
};

template <typename V>
__device__ V Operand(const FusedParams& p, int which, Place<V> place, V last,
                     const Kept<V>& kept) {
  if (which == FusedStep::kLast) return last;
  if (which < 0) return kept.results[FusedStep::kKeptFirst - which];
  const int64_t columns = p.columns[which];
  return place.At(columns == 0 ? place.i : place.i % columns).Load(p.x[which]);
}

template <typename V>
__device__ V ResultAt(const FusedParams& p, Place<V> place) {
  Kept<V> kept;
  V last{};
  for (int k = 0; k < p.count_of_steps; ++k) {
    const FusedStep step = p.steps[k];
    const V a = Operand(p, step.a, place, last, kept);
    last = Apply(step, a, Operand(p, step.b, place, last, kept));
    if (step.keep != FusedStep::kNowhere) kept.results[step.keep] = last;
  }
  return last;
}

}  // namespace

extern "C" __global__ void FusedKernel(const FusedParams p) {
  ForPlaces(p.count, p.by_fours, [&](auto place) { place.Store(p.y, ResultAt(p, place)); });
}
