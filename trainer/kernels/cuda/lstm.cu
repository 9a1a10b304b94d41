// c = f · before + i · g, y = o · tanh c, where i, f, o are the sigmoids of gates and g is the tanh
// of one; and the gradient of that.
//
// One cell a thread, in blocks of 256: the steps of a sequence wait for each other, and one step is
// small, so it is cut into as many threads as there are; each has at least five loads under way.
// Neighbours are neighbouring units, so a warp moves whole lines of each gate. Per cell 44 bytes
// forwards (gates are read and written; the biases, added here rather than in a pass of their own,
// stay in the caches), 56 bytes backwards.

#include "trainer/kernels/cuda/lstm.h"

#include "trainer/kernels/cuda/kernels.h"

using namespace taas::cuda;

namespace {

__device__ float SigmoidOf(float x) { return 1.0f / (1.0f + expf(-x)); }

__device__ int64_t CellOfThread() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

}  // namespace

extern "C" __global__ void LstmCellGradKernel(const LstmCellGradParams p) {
  const int64_t cell = CellOfThread();
  if (cell >= p.count) return;  // The last block is partly idle.
  // Of the first of its gates: three others of each example before lie between.
  const int64_t at = cell + 3 * (cell / p.units) * p.units;
  const float* const gates = p.gates + at;
  const float i = gates[0], f = gates[p.units], g = gates[2 * p.units], o = gates[3 * p.units];
  const bool last = p.dy_later == nullptr;
  const float dy = p.dy[cell] + (last ? 0.0f : p.dy_later[cell]);
  const float t = tanhf(p.cells[cell]);
  const float dc = (last ? 0.0f : p.dcells[cell]) + dy * o * (1.0f - t * t);
  const float before = p.before == nullptr ? 0.0f : p.before[cell];
  float* const dgates = p.dgates + at;
  dgates[0] = dc * g * i * (1.0f - i);
  dgates[p.units] = dc * before * f * (1.0f - f);
  dgates[2 * p.units] = dc * i * (1.0f - g * g);
  dgates[3 * p.units] = dy * t * o * (1.0f - o);
  p.dcells[cell] = dc * f;
}

extern "C" __global__ void LstmCellKernel(const LstmCellParams p) {
  const int64_t cell = CellOfThread();
  if (cell >= p.count) return;  // The last block is partly idle.
  const int64_t example = cell / p.units;
  const float* const biases = p.biases + (cell - example * p.units);
  float* const gates = p.gates + (cell + 3 * example * p.units);
  const float i = SigmoidOf(gates[0] + biases[0]);
  const float f = SigmoidOf(gates[p.units] + biases[p.units]);
  const float g = tanhf(gates[2 * p.units] + biases[2 * p.units]);
  const float o = SigmoidOf(gates[3 * p.units] + biases[3 * p.units]);
  const float before = p.before == nullptr ? 0.0f : p.before[cell];
  const float c = f * before + i * g;
  gates[0] = i;
  gates[p.units] = f;
  gates[2 * p.units] = g;
  gates[3 * p.units] = o;
  p.cells[cell] = c;
  p.y[cell] = o * tanhf(c);
}
