// The mean of squared differences and its gradient, against their twins on the processor.

#include <cstdint>

#include "gtest/gtest.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

OpCase Loss(int64_t n) {
  return {.op = "MeanSquaredError",
          .inputs = {RandomFloats(Shape({n}), 1), RandomFloats(Shape({n}), 2)},
          .tolerance = 1e-6};
}

OpCase LossGrad(int64_t n) {
  return {.op = "MeanSquaredErrorGrad",
          .inputs = {RandomFloats(Shape({n}), 1), RandomFloats(Shape({n}), 2),
                     Floats(Shape(), {0.7f})}};
}

TEST(SquaredErrorTest, IsItsTwin) {
  for (const int64_t n : {0, 1, 33, 257, 1'024, 1'025, 2'500}) {
    ExpectTwin(Loss(n));
  }
}

TEST(SquaredErrorTest, GradientIsItsTwin) {
  for (const int64_t n : {0, 1, 255, 256, 257}) {
    ExpectTwin(LossGrad(n));
    OpCase in_place = LossGrad(n);
    in_place.in_place = {0};
    ExpectTwin(in_place);
  }
}

// Two blocks' sums and one that adds them: each sum of a block is 8 floats of shared memory, which
// all 256 threads read.
TEST(SquaredErrorTest, ReadsEachElementOnce) {
  EXPECT_EQ(CostsOf(Loss(2'000)),
            (OpCosts{.launches = 2, .barriers = 6, .read_bytes = 40'584, .written_bytes = 108}));
  EXPECT_EQ(CostsOf(LossGrad(1'000)),
            (OpCosts{.launches = 1, .barriers = 0, .read_bytes = 12'000, .written_bytes = 4'000}));
}

}  // namespace
}  // namespace taas::cuda
