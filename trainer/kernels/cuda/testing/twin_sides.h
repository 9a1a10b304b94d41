// The two sides of a case of twin.h: what kernels are made from and given, what the processor makes
// of it, and whether a GPU made the same, which is emulated (twin.cc) or a card (card_twin.cc).
//
// Ownership: values. Threads: one at a time. Errors: fail the test, with the op's name.
//
//   const Prepared prepared = Prepare(of);
//   ExpectSame(of, prepared, *OnGpu(of, prepared), *ByTwin(of, prepared), "emulated");

#ifndef TRAINER_KERNELS_CUDA_TESTING_TWIN_SIDES_H_
#define TRAINER_KERNELS_CUDA_TESTING_TWIN_SIDES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "trainer/graph/kernel_registry.h"
#include "trainer/graph/step_block.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {

using Bytes = std::vector<std::byte>;

inline constexpr std::byte kLeftAlone{77};

// What the kernels of both sides are made from.
struct Prepared {
  std::vector<TensorType> inputs, outputs;
  Attributes attributes;

  // Of the kernel that is looked for.
  DType dtype() const { return inputs.empty() ? DType::kFloat32 : inputs[0].dtype; }
};
Prepared Prepare(const OpCase& of);

// `device`: on which it will run, where kernels are told.
std::optional<Kernel> MakeKernel(const OpCase& of, const Prepared& prepared,
                                 const KernelRegistry& kernels, const std::string& type,
                                 Device* device = nullptr);

// The input in whose place an output lies, or -1.
int InPlace(const OpCase& of, size_t output);
size_t OutputsOf(const OpCase& of, const Prepared& prepared);
TensorType OutputType(const OpCase& of, const Prepared& prepared, size_t output);
// What lies in it before the op.
Bytes Before(const OpCase& of, const Prepared& prepared, size_t output);

struct Results {
  std::vector<Bytes> outputs;
  Fault fault;
  OpCosts costs;
};

std::optional<Results> ByTwin(const OpCase& of, const Prepared& prepared);

// Returns the largest difference, in the unit of OpCase::tolerance.
double ExpectSame(const OpCase& of, const Prepared& prepared, const Results& got,
                  const Results& wanted, const std::string& how);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_TESTING_TWIN_SIDES_H_
