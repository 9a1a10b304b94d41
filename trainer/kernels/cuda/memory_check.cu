// words[i] = mix(i ^ seed), and how many words are something else. Neighbours differ in half of
// their bits, and so do the same words of another seed: a line that is stuck or swapped shows.
//
// One thread per word of 8 bytes, which are written, or read, once: bound by memory, which is what
// it is about. Only a fault is an atomic operation.

#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/memory_check.h"
#include "trainer/kernels/cuda/random_bits.h"

using namespace taas::cuda;

extern "C" __global__ void PatternKernel(const PatternParams p) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= p.count) return;  // The last block is partly idle.
  p.words[i] = SplitMix(static_cast<uint64_t>(i) ^ p.seed);
}

extern "C" __global__ void PatternCheckKernel(const PatternCheckParams p) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= p.count) return;  // The last block is partly idle.
  if (p.words[i] == SplitMix(static_cast<uint64_t>(i) ^ p.seed)) return;
  atomicAdd(&p.faults->count, 1ull);
  atomicMin(&p.faults->first, static_cast<unsigned long long>(i));
}
