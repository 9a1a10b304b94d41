// Dropout draws what the processor's kernel draws: for each layer, seed and step.

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

OpCase Dropped(int64_t n, double rate) {
  return {.op = "Dropout",
          .inputs = {RandomFloats(Shape({n}), 1)},
          .attributes = {{"rate", rate}},
          .block = {.step = 3}};
}

TEST(DropoutTest, IsItsTwin) {
  for (const int64_t n : {0, 1, 255, 256, 257, 1'000}) {
    ExpectTwin(Dropped(n, 0.3));
    OpCase in_place = Dropped(n, 0.5);
    in_place.in_place = {0};
    ExpectTwin(in_place);
  }
  OpCase behind = Dropped(300, 0.5);
  behind.behind = 4;
  ExpectTwin(behind);
  for (const double rate : {0.0, 0.999}) ExpectTwin(Dropped(500, rate));
}

TEST(DropoutTest, DrawsByTheLayerTheSeedAndTheStep) {
  for (const int64_t step : {int64_t{0}, int64_t{1}, int64_t{1} << 40}) {
    OpCase dropped = Dropped(300, 0.5);
    dropped.block.step = step;
    dropped.name = "layer3";
    dropped.seed = 0xfeedfacecafe;
    ExpectTwin(dropped);
    dropped.attributes = {{"rate", 0.5}, {"stream", std::string("of another node")}};
    ExpectTwin(dropped);
  }
}

// And the step for each of 256 threads.
TEST(DropoutTest, MovesEachElementOnce) {
  EXPECT_EQ(CostsOf(Dropped(1'000, 0)),
            (OpCosts{.launches = 1, .barriers = 0, .read_bytes = 6'048, .written_bytes = 4'000}));
}

}  // namespace
}  // namespace taas::cuda
