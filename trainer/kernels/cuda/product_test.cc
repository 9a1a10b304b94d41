// That what is asked of cuBLASLt is the product that the processor computes.

#include <tuple>

#include "gtest/gtest.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

TEST(ProductTest, MatMulIsItsTwinTransposedOrNot) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const auto& [m, n, k] : {std::tuple(1, 1, 1), std::tuple(5, 3, 7),
                                    std::tuple(3, 17, 0), std::tuple(0, 4, 2)}) {
        ExpectTwin({.op = "MatMul",
                    .inputs = {RandomFloats(transpose_a ? Shape({k, m}) : Shape({m, k}), 1),
                               RandomFloats(transpose_b ? Shape({n, k}) : Shape({k, n}), 2)},
                    .attributes = {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}},
                    .tolerance = 1e-6});
      }
    }
  }
}

TEST(ProductTest, RowsOfALongerTensorAreOneMatrix) {
  ExpectTwin({.op = "MatMul",
              .inputs = {RandomFloats(Shape({2, 3, 5}), 1), RandomFloats(Shape({5, 4}), 2)},
              .tolerance = 1e-6});
}

}  // namespace
}  // namespace taas::cuda
