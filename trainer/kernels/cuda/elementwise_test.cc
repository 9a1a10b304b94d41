// Each op against its twin on the processor, at odd sizes; every load and store is watched.

#include "gtest/gtest.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

TEST(ElementwiseTest, ScaleIsItsTwin) {
  for (const int64_t n : {0, 1, 255, 256, 257, 1'000}) {
    const OpCase scale{.op = "Scale",
                       .inputs = {RandomFloats(Shape({n}), 1)},
                       .attributes = {{"factor", 0.3}}};
    ExpectTwin(scale);
    OpCase in_place = scale;
    in_place.in_place = {0};
    ExpectTwin(in_place);
  }
}

TEST(ElementwiseTest, ScaleMovesEachElementOnce) {
  EXPECT_EQ(CostsOf({.op = "Scale",
                     .inputs = {RandomFloats(Shape({1'000}), 1)},
                     .attributes = {{"factor", 0.3}}}),
            (OpCosts{.launches = 1, .barriers = 0, .read_bytes = 4'000, .written_bytes = 4'000}));
}

}  // namespace
}  // namespace taas::cuda
