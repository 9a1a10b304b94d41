// An LSTM and its gradient against their twins on the processor.

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "trainer/graph/attributes.h"
#include "trainer/graph/tensor_type.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

struct Size {
  int64_t steps, examples, inputs, units;
};

OpCase Lstm(const Size& of) {
  return {.op = "Lstm",
          .inputs = {RandomFloats(Shape({of.steps, of.examples, of.inputs}), 1),
                     RandomFloats(Shape({of.inputs, 4 * of.units}), 2),
                     RandomFloats(Shape({of.units, 4 * of.units}), 3),
                     RandomFloats(Shape({4 * of.units}), 4)},
          .tolerance = 1e-5,
          .orders = 4};
}

OpCase LstmGrad(const Size& of, bool input_gradient = true) {
  const OpCase forward = Lstm(of);
  std::vector<HostTensor> outputs = OnGpu(forward);
  return {.op = "LstmGrad",
          .inputs = {RandomFloats(outputs[0].type.shape, 5), forward.inputs[0], forward.inputs[1],
                     forward.inputs[2], outputs[0], outputs[1], outputs[2]},
          .attributes = {{"input_gradient", input_gradient}},
          .tolerance = 1e-5,
          .orders = 4};
}

TEST(LstmTest, AndItsGradientAreTheirTwins) {
  for (const int64_t steps : {1, 2, 4}) {
    for (const int64_t examples : {1, 3}) {
      for (const int64_t units : {5, 33}) {
        ExpectTwin(Lstm({steps, examples, /*inputs=*/7, units}));
        ExpectTwin(LstmGrad({steps, examples, /*inputs=*/7, units}));
        if (HasFailure()) {
          FAIL() << steps << " steps, " << examples << " examples, " << units << " units";
        }
      }
    }
  }
}

TEST(LstmTest, CellsOfManyBlocksAreTheirTwins) {
  ExpectTwin(Lstm({/*steps=*/2, /*examples=*/9, /*inputs=*/3, /*units=*/65}));
  ExpectTwin(LstmGrad({/*steps=*/2, /*examples=*/9, /*inputs=*/3, /*units=*/65}));
}

// Sums of the biases' gradient over more rows than one block takes.
TEST(LstmTest, AGradientOfManyRowsIsItsTwin) { ExpectTwin(LstmGrad({65, 3, 2, 2})); }

TEST(LstmTest, AnInputThatNobodyWantsTheGradientOfHasNone) {
  ExpectTwin(LstmGrad({/*steps=*/3, /*examples=*/2, /*inputs=*/4, /*units=*/3},
                      /*input_gradient=*/false));
}

// Weights without any data have gradients of zeroes.
TEST(LstmTest, NoExampleIsNothing) {
  ExpectTwin(Lstm({3, 0, 2, 4}));
  const std::vector<HostTensor> gradients = OnGpu(LstmGrad({3, 0, 2, 4}));
  for (size_t i = 1; i < 4; ++i) {
    for (const float value : gradients[i].As<float>()) EXPECT_EQ(value, 0.0f) << i;
  }
}

// Of three steps of four cells: a launch for each step, a product but for the first, and that of
// all inputs. A cell reads 4 gates, 4 biases and, but in the first step, one before, and writes 6
// numbers; backwards it reads 6, one before but in the first step, and two from the step after but
// in the last, and writes 5. The biases' sums are of 4 gates each step, by one block of 256 threads
// that share their sums.
TEST(LstmTest, ACellIsReadAndWrittenOnceInAStep) {
  const Size of{/*steps=*/3, /*examples=*/2, /*inputs=*/3, /*units=*/2};
  constexpr int kSteps = 3, kCells = 2 * 2, kBiases = 4 * 2, kShared = 256;
  EXPECT_EQ(CostsOf(Lstm(of)), (OpCosts{.launches = 1 + kSteps + (kSteps - 1),
                                        .barriers = 0,
                                        .read_bytes = kCells * (kSteps * 8 + kSteps - 1) * 4,
                                        .written_bytes = kCells * kSteps * 6 * 4}));
  constexpr int kRead = kCells * (kSteps * (6 + 4) + (kSteps - 1) * 3) + kShared;
  EXPECT_EQ(CostsOf(LstmGrad(of)),
            (OpCosts{.launches = kSteps + (kSteps - 1) + 3 + 1,
                     .barriers = 1,
                     .read_bytes = kRead * 4,
                     .written_bytes = (kCells * kSteps * 5 + kBiases + kShared) * 4}));
}

}  // namespace
}  // namespace taas::cuda
