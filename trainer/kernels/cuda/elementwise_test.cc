// Each op against its twin on the processor, at odd sizes; every load and store is watched.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

// A block has 1'024 elements, a thread four.
constexpr int64_t kFew[] = {0, 1, 33, 257, 1'027};
constexpr int64_t kMany[] = {0, 1, 3, 4, 5, 31, 32, 33, 255, 256, 257, 1'023, 1'024, 1'025, 2'300};

// Elsewhere, in place, and where four elements cannot be moved at once.
void ExpectTwinEachWay(OpCase of, bool in_place = true) {
  ExpectTwin(of);
  if (in_place) {
    OpCase over = of;
    over.in_place = {0};
    ExpectTwin(over);
  }
  of.behind = sizeof(float);
  ExpectTwin(of);
}

struct Case {
  std::string name;
  int inputs = 1;
  double tolerance = 0;
  double low = -2, high = 2;
  Attributes attributes = {};
};

class ElementwiseTest : public testing::TestWithParam<Case> {};

TEST_P(ElementwiseTest, IsItsTwin) {
  for (const int64_t n : kFew) {
    OpCase of{.op = GetParam().name,
              .inputs = {},
              .attributes = GetParam().attributes,
              .tolerance = GetParam().tolerance};
    for (int i = 0; i < GetParam().inputs; ++i) {
      of.inputs.push_back(RandomFloats(Shape({n}), static_cast<uint64_t>(10 * n + i),
                                       GetParam().low, GetParam().high));
    }
    ExpectTwinEachWay(of);
  }
}

// Tolerances are of functions of the two mathematics libraries, and of products that the processor
// rounds once with their sum.
INSTANTIATE_TEST_SUITE_P(
    Ops, ElementwiseTest,
    testing::Values(Case{.name = "Add", .inputs = 2}, Case{.name = "Sub", .inputs = 2},
                    Case{.name = "Mul", .inputs = 2}, Case{.name = "Square"},
                    Case{.name = "Identity"}, Case{.name = "Relu"},
                    Case{.name = "ReluGrad", .inputs = 2},
                    Case{.name = "Sigmoid", .tolerance = 1e-6, .low = -20, .high = 20},
                    Case{.name = "SigmoidGrad", .inputs = 2, .low = 0, .high = 1},
                    Case{.name = "Tanh", .tolerance = 1e-6, .low = -4, .high = 4},
                    Case{.name = "TanhGrad", .inputs = 2, .tolerance = 1e-6, .low = -1},
                    Case{.name = "Gelu", .tolerance = 1e-6, .low = -6, .high = 6},
                    Case{.name = "GeluGrad", .inputs = 2, .tolerance = 1e-6},
                    Case{.name = "Scale", .attributes = {{"factor", 0.3}}},
                    Case{.name = "MovingAverage",
                         .inputs = 2,
                         .tolerance = 1e-6,
                         .attributes = {{"decay", 0.9}}}),
    [](const auto& info) { return info.param.name; });

TEST(ElementwiseSizesTest, EachSizeOfATensorIsItsTwin) {
  for (const int64_t n : kMany) {
    const OpCase sub{.op = "Sub",
                     .inputs = {RandomFloats(Shape({n}), 1), RandomFloats(Shape({n}), 2)}};
    ExpectTwinEachWay(sub);
  }
}

TEST(ElementwiseSizesTest, WhatIsNoNumberStaysNone) {
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  const HostTensor odd = Floats(Shape({6}), {nan, infinity, -infinity, 0.0f, -0.0f, 1e30f});
  for (const char* const op : {"Relu", "Sigmoid", "Tanh"}) {
    ExpectTwin({.op = op, .inputs = {odd}, .tolerance = 1e-6});
  }
  const HostTensor ones = Floats(Shape({6}), {1, 1, 1, 1, 1, 1});
  for (const char* const op : {"Add", "ReluGrad"}) {
    ExpectTwin({.op = op, .inputs = {odd, odd}});
    ExpectTwin({.op = op, .inputs = {ones, odd}});  // What arrives where the output is 0.
  }
}

TEST(BiasTest, IsAddedToEachRow) {
  struct Size {
    int64_t rows, columns;
  };
  for (const Size& size : {Size{0, 4}, Size{3, 0}, Size{1, 1}, Size{33, 1}, Size{5, 7}, Size{9, 32},
                           Size{2, 33}, Size{3, 129}, Size{2, 1'028}}) {
    for (const char* const op : {"BiasAdd", "BiasAddRelu"}) {
      ExpectTwinEachWay({.op = op,
                         .inputs = {RandomFloats(Shape({size.rows, size.columns}), 1),
                                    RandomFloats(Shape({size.columns}), 2)}});
    }
  }
  // The last axis is the columns.
  ExpectTwin({.op = "BiasAdd",
              .inputs = {RandomFloats(Shape({2, 3, 4, 5}), 1), RandomFloats(Shape({5}), 2)}});
}

TEST(ByFactorTest, GradientsOfSumsAreTheirTwins) {
  const HostTensor factor = Floats(Shape(), {0.7f});
  for (const int64_t n : kFew) {
    HostTensor x = RandomFloats(Shape({n}), 3);
    const HostTensor a = RandomFloats(Shape({n}), 4);
    ExpectTwinEachWay({.op = "L2LossGrad", .inputs = {x, factor}}, /*in_place=*/false);
    ExpectTwinEachWay({.op = "L2LossGradAdd", .inputs = {a, x, factor}, .tolerance = 1e-6});
    if (n > 2) std::memset(x.bytes.data(), 0, 2 * sizeof(float));  // Of 0 the sign is 0.
    ExpectTwinEachWay({.op = "L1LossGrad", .inputs = {x, factor}}, /*in_place=*/false);
  }
}

TEST(AddNTest, AnyNumberOfTensorsIsAddedInTheirOrder) {
  for (const int inputs : {1, 2, 3, 16, 17, 31, 32}) {
    OpCase of{.op = "AddN", .inputs = {}};
    for (int i = 0; i < inputs; ++i) {
      of.inputs.push_back(RandomFloats(Shape({3, 19}), static_cast<uint64_t>(i)));
    }
    ExpectTwinEachWay(of);
  }
  for (const int64_t n : kFew) {
    ExpectTwinEachWay({.op = "AddN",
                       .inputs = {RandomFloats(Shape({n}), 1), RandomFloats(Shape({n}), 2),
                                  RandomFloats(Shape({n}), 3)}});
  }
}

TEST(ElementwiseCostsTest, EachElementIsMovedOnce) {
  const HostTensor x = RandomFloats(Shape({1'000}), 1);
  EXPECT_EQ(CostsOf({.op = "Scale", .inputs = {x}, .attributes = {{"factor", 0.3}}}),
            (OpCosts{.launches = 1, .barriers = 0, .read_bytes = 4'000, .written_bytes = 4'000}));
  EXPECT_EQ(CostsOf({.op = "Mul", .inputs = {x, x}}),
            (OpCosts{.launches = 1, .barriers = 0, .read_bytes = 8'000, .written_bytes = 4'000}));
  EXPECT_EQ(CostsOf({.op = "BiasAdd",
                     .inputs = {RandomFloats(Shape({4, 100}), 1), RandomFloats(Shape({100}), 2)}}),
            (OpCosts{.launches = 1, .barriers = 0, .read_bytes = 3'200, .written_bytes = 1'600}));
  OpCase sum{.op = "AddN", .inputs = {}};
  for (int i = 0; i < 16; ++i) sum.inputs.push_back(x);
  EXPECT_EQ(CostsOf(sum), (OpCosts{.launches = 1,
                                   .barriers = 0,
                                   .read_bytes = 16 * 4'000,
                                   .written_bytes = 4'000}));
  // The second launch begins with what the first has added.
  for (int i = 0; i < 4; ++i) sum.inputs.push_back(x);
  EXPECT_EQ(CostsOf(sum), (OpCosts{.launches = 2,
                                   .barriers = 0,
                                   .read_bytes = 21 * 4'000,
                                   .written_bytes = 2 * 4'000}));
  OpCase nothing{.op = "Identity", .inputs = {x}};
  nothing.in_place = {0};
  EXPECT_EQ(CostsOf(nothing), OpCosts());
}

}  // namespace
}  // namespace taas::cuda
