// Attention of known models in bfloat16, forwards and backwards.
//
// Ownership: values. Threads: any. Errors: none.
//
//   for (const AttentionCase& of : AttentionCases(Size::kWhole)) …

#ifndef BENCH_GPU_ATTENTION_CASES_H_
#define BENCH_GPU_ATTENTION_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/gpu/kernel_cases.h"
#include "bench/gpu/rows.h"
#include "trainer/kernels/cuda/fused_attention.h"

namespace taas::bench {

struct AttentionCase {
  std::string name;
  cuda::AttentionShape shape;  // Of all examples.
};
std::vector<AttentionCase> AttentionCases(Size size);

// The op that computes it.
KernelCase KernelOf(const AttentionCase& of);
// Products and sums: two products of each score forwards, five backwards, of half of all scores
// where it is causal.
int64_t FlopOf(const AttentionCase& of);

}  // namespace taas::bench

#endif  // BENCH_GPU_ATTENTION_CASES_H_
