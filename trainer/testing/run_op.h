// Runs the CPU kernel of one op on tensors, for tests.
//
// Ownership: values. Threads: one at a time. Errors: fail the test; the result is empty then.
//
//   const std::vector<Floats> outputs = RunOp("MatMul", {a, b}, {{"transpose_a", true}});

#ifndef TRAINER_TESTING_RUN_OP_H_
#define TRAINER_TESTING_RUN_OP_H_

#include <string>
#include <vector>

#include "trainer/graph/attributes.h"
#include "trainer/graph/tensor_type.h"

namespace taas {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

struct FloatTensor {
  Shape shape;
  Floats values;
};

// In [-1, 1).
FloatTensor RandomTensor(Shape shape, uint64_t seed);

// Relative to the largest element of a result: a sum of n products in float, in any order, is
// within n/4 roundings of the exact one (they cancel each other mostly); this is enough for all
// sums in tests of kernels.
inline constexpr double kTolerance = 1e-5;
// Where what is rounded to bfloat16 is computed in float, it may be rounded to the other side than
// the twin's: by 2^-8 of itself, one of many terms of a sum.
inline constexpr double kRoundedTolerance = 4e-3;
void ExpectNear(const Floats& got, const Doubles& wanted, const std::string& what,
                double tolerance = kTolerance);

// What kernels on this machine multiply instead of x: of bfloat16 the nearest number of 8 bits, on
// ties the one whose last bit is 0; x itself on a machine without such products.
double FactorOf(double x, Precision products);
FloatTensor FactorsOf(FloatTensor x, Precision products);

// Why a test of such products is skipped: on a machine without them it would test nothing. The
// words are those that tools/ci/count_tests.py knows.
inline constexpr char kNeedsBFloat16[] = "needs: AVX512_BF16";

// All outputs; what the kernel leaves alone is 77.
std::vector<Floats> RunOp(const char* op, const std::vector<FloatTensor>& inputs,
                          Attributes attributes = {}, int threads = 1,
                          bool deterministic = false,
                          Precision products = Precision::kFloat32);

}  // namespace taas

#endif  // TRAINER_TESTING_RUN_OP_H_
