// Whether the loss is a number, and what others are told of it. One thread: it is one.

#include "trainer/kernels/cuda/report.h"

#include <limits>

#include "trainer/kernels/cuda/kernels.h"

using namespace taas;
using namespace taas::cuda;

extern "C" __global__ void CheckLossKernel(const CheckLossParams p) {
  constexpr float kLargest = 3.402823466e38f;
  const float loss = *p.loss;
  if (fabsf(loss) <= kLargest) return;  // Never of NaN.
  Report(p.report, {.kind = Fault::Kind::kLoss, .loss = loss});
}

extern "C" __global__ void CountKernel(const CountParams p) { ++*p.count; }

extern "C" __global__ void LossUnlessFaultKernel(const LossUnlessFaultParams p) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  *p.out = p.block->fault.kind == Fault::Kind::kNone ? *p.loss : kNaN;
}
