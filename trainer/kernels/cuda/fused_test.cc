// Programs against the processor's, at odd sizes; every load and store is watched.

#include <vector>

#include "gtest/gtest.h"
#include "trainer/graph/fused_program.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

// Of functions of the two mathematics libraries, one after the other.
constexpr double kTolerance = 2e-6;

// {rows, columns}: a block has 1'024 elements, a thread four.
const std::vector<std::vector<int64_t>> kSizes = {{0, 5},  {1, 1},   {3, 7},    {8, 32},
                                                  {33, 1}, {5, 257}, {2, 1'028}};

void ExpectTwinEachWay(OpCase of) {
  ExpectTwin(of);
  OpCase over = of;
  over.in_place = {0};
  ExpectTwin(over);
  of.behind = sizeof(float);
  ExpectTwin(of);
}

TEST(FusedTest, EachCodeIsItsTwin) {
  for (int number = 0; number <= static_cast<int>(FusedCode::kBiasAddRelu); ++number) {
    const auto code = static_cast<FusedCode>(number);
    for (const std::vector<int64_t>& size : kSizes) {
      OpCase of{.op = "Fused",
                .inputs = {RandomFloats(Shape(size), 1, -3, 3)},
                .attributes = Encode({{.code = code, .a = 0, .b = 1, .factor = 0.7f}}),
                .tolerance = kTolerance};
      if (AddsBias(code)) {
        of.inputs.push_back(RandomFloats(Shape({size[1]}), 2));
      } else if (HasTwoOperands(code)) {
        of.inputs.push_back(RandomFloats(Shape(size), 2));
      }
      ExpectTwin(of);
    }
  }
}

TEST(FusedTest, ResultsAreKeptAsLongAsTheyAreRead) {
  // sigmoid(x + bias) · tanh(x - z) + 0.5 z, in which four results are alive at once; then what is
  // read twice, by the next and by a later one.
  const FusedProgram program = {{.code = FusedCode::kBiasAdd, .a = 0, .b = 2},
                                {.code = FusedCode::kSub, .a = 0, .b = 1},
                                {.code = FusedCode::kScale, .a = 1, .factor = 0.5f},
                                {.code = FusedCode::kSigmoid, .a = ResultOf(0)},
                                {.code = FusedCode::kTanh, .a = ResultOf(1)},
                                {.code = FusedCode::kMul, .a = ResultOf(3), .b = ResultOf(4)},
                                {.code = FusedCode::kAdd, .a = ResultOf(5), .b = ResultOf(2)},
                                {.code = FusedCode::kSquare, .a = ResultOf(6)},
                                {.code = FusedCode::kSub, .a = ResultOf(7), .b = ResultOf(6)},
                                {.code = FusedCode::kTanhGrad, .a = 1, .b = ResultOf(8)}};
  for (const std::vector<int64_t>& size : kSizes) {
    ExpectTwinEachWay({.op = "Fused",
                       .inputs = {RandomFloats(Shape(size), 1), RandomFloats(Shape(size), 2),
                                  RandomFloats(Shape({size[1]}), 3)},
                       .attributes = Encode(program),
                       .tolerance = kTolerance});
  }
}

TEST(FusedTest, ALongProgramIsItsTwin) {
  FusedProgram program;
  for (int i = 0; i < 16; ++i) {
    program.push_back({.code = FusedCode::kScale, .a = 0, .factor = 1.0f + static_cast<float>(i)});
  }
  for (int i = 0; i < 15; ++i) {
    const int sum = static_cast<int>(program.size()) - 1;
    program.push_back({.code = FusedCode::kSub, .a = ResultOf(i), .b = ResultOf(sum)});
  }
  ExpectTwinEachWay({.op = "Fused",
                     .inputs = {RandomFloats(Shape({5, 7}), 1)},
                     .attributes = Encode(program)});
}

TEST(FusedTest, EachInputIsReadOnceAndNothingBetweenIsWritten) {
  const FusedProgram program = {{.code = FusedCode::kBiasAdd, .a = 0, .b = 2},
                                {.code = FusedCode::kTanh, .a = ResultOf(0)},
                                {.code = FusedCode::kMul, .a = ResultOf(1), .b = 1}};
  const HostTensor x = RandomFloats(Shape({10, 100}), 1);
  EXPECT_EQ(CostsOf({.op = "Fused",
                     .inputs = {x, x, RandomFloats(Shape({100}), 3)},
                     .attributes = Encode(program)}),
            (OpCosts{.launches = 1, .barriers = 0, .read_bytes = 12'000, .written_bytes = 4'000}));
}

}  // namespace
}  // namespace taas::cuda
