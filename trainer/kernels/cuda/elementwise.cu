// Each element from those at the same place. One thread per element, neighbours side by side, so
// that a warp moves whole lines of memory; bound by that: 8 bytes per element where one is read.

#include "trainer/kernels/cuda/elementwise.h"

#include "trainer/kernels/cuda/kernels.h"

using namespace taas::cuda;

extern "C" __global__ void ScaleKernel(const ScaleParams p) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= p.count) return;  // The last block is partly idle.
  p.y[i] = p.factor * p.x[i];
}
