// Kernels that are bound by memory, on arrays of a given size.
//
// Ownership: values. Threads: any. Errors: none.
//
//   for (const KernelCase& of : KernelCases(/*bytes=*/64 << 20)) …

#ifndef BENCH_GPU_KERNEL_CASES_H_
#define BENCH_GPU_KERNEL_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/graph/attributes.h"
#include "trainer/graph/step_block.h"
#include "trainer/graph/tensor_type.h"

namespace taas::bench {

struct KernelInput {
  TensorType type;
  // Floats are drawn from `low` to 1, whole numbers from 0 below `bound`.
  double low = -1;
  int64_t bound = 256;
  bool absent = false;  // A null pointer is given.
};

struct KernelCase {
  std::string name;
  std::string op;
  std::vector<KernelInput> inputs;
  Attributes attributes{};
  StepBlock block{};
  // Of an op that is in no graph (trainer/optimizer/update_ops.h): its outputs lie where these
  // inputs lie.
  std::vector<size_t> in_place{};
  // What has to be moved, where that is not each input and each output once.
  int64_t moved_bytes = 0;
  Precision products = Precision::kFloat32;
};

// The largest array of each is of about so many bytes.
std::vector<KernelCase> KernelCases(int64_t bytes);

}  // namespace taas::bench

#endif  // BENCH_GPU_KERNEL_CASES_H_
