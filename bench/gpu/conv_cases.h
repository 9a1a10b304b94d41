// Convolutions of known models, with padding SAME, each in its three parts and two precisions.
//
// Ownership: values. Threads: any. Errors: none.
//
//   for (const ConvCase& of : ConvCases(Size::kWhole)) …

#ifndef BENCH_GPU_CONV_CASES_H_
#define BENCH_GPU_CONV_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/gpu/kernel_cases.h"
#include "bench/gpu/rows.h"
#include "trainer/graph/tensor_type.h"
#include "trainer/kernels/cuda/convolution.h"

namespace taas::bench {

struct ConvCase {
  std::string name;
  cuda::ConvPart part = cuda::ConvPart::kOutputs;
  Precision products = Precision::kFloat32;
  int64_t images = 0, side = 0, in = 0, out = 0;  // Square images.
  int64_t filter = 1, stride = 1;
};
std::vector<ConvCase> ConvCases(Size size);

// The op that computes it, and what a device plans for that op (conv_ops.cc).
KernelCase KernelOf(const ConvCase& of);
cuda::ConvShape ShapeOf(const ConvCase& of);
// Products and sums of one, as if no place of a filter lay beside the image.
int64_t FlopOf(const ConvCase& of);

}  // namespace taas::bench

#endif  // BENCH_GPU_CONV_CASES_H_
