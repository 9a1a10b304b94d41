// The product of two matrices as gemm.h has it, of factors rounded to bfloat16 and with sums in
// float32 (bfloat16.h says how).
//
// Both factors are rounded and put in order once, in scratch memory, then the result is computed
// tile by tile. Each number of it is one sum in one order that follows from the sizes alone: the
// bits are the same for any number of threads.
//
// A factor that several products share is put in order once: Pack, then MultiplyPacked.
//
// Ownership: none; `out` and scratch memory overlap no input. Threads: any. Errors: none. Needs
// HasBFloat16().
//
//   std::vector<std::byte> scratch(BFloat16GemmScratch(shape));
//   BFloat16Gemm(shape, x, w, y, scratch.data());

#ifndef TRAINER_KERNELS_CPU_BFLOAT16_GEMM_H_
#define TRAINER_KERNELS_CPU_BFLOAT16_GEMM_H_

#include <cstddef>

#include "trainer/kernels/cpu/gemm.h"

namespace taas {

// Of both factors. alpha must be 1 and beta 0 or 1; `deterministic` changes nothing.
size_t BFloat16GemmScratch(const GemmShape& shape);
void BFloat16Gemm(const GemmShape& shape, const float* a, const float* b, float* out,
                  void* scratch);

// Of the right factor, [k, n] or transposed.
size_t PackedRightBytes(const GemmShape& shape);
void PackRight(const GemmShape& shape, const float* b, void* packed);
// Of the left one, [m, k] or transposed.
size_t PackedLeftBytes(const GemmShape& shape);
void PackLeft(const GemmShape& shape, const float* a, void* packed);
void MultiplyPacked(const GemmShape& shape, const void* left, const void* right, float* out);

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_BFLOAT16_GEMM_H_
