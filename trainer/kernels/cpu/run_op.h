// Runs the CPU kernel of one op on tensors, for tests.
//
// Ownership: values. Threads: one at a time. Errors: fail the test; the result is empty then.
//
//   const std::vector<Floats> outputs = RunOp("MatMul", {a, b}, {{"transpose_a", true}});

#ifndef TRAINER_KERNELS_CPU_RUN_OP_H_
#define TRAINER_KERNELS_CPU_RUN_OP_H_

#include <vector>

#include "trainer/graph/attributes.h"
#include "trainer/graph/tensor_type.h"

namespace taas {

struct FloatTensor {
  Shape shape;
  std::vector<float> values;
};

// All outputs; what the kernel leaves alone is 77.
std::vector<std::vector<float>> RunOp(const char* op, const std::vector<FloatTensor>& inputs,
                                      Attributes attributes = {}, int threads = 1,
                                      bool deterministic = false);

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_RUN_OP_H_
