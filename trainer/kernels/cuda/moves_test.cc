// Each op against its twin on the processor, bit by bit, at odd sizes and in units of 4, 8 and 16
// bytes; every load and store is watched.

#include <vector>

#include "gtest/gtest.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

using Ints = std::vector<int64_t>;

// And where only the smallest unit can be moved.
void ExpectTwinEachWay(OpCase of) {
  ExpectTwin(of);
  of.behind = SizeOf(of.inputs[0].type.dtype);
  ExpectTwin(of);
}

TEST(MovesTest, ConcatPutsRowsBesideEachOther) {
  struct Case {
    std::vector<Ints> shapes;
    int64_t axis;
  };
  for (const Case& of : std::vector<Case>{{{{3, 5}}, 1},
                                          {{{3, 5}, {3, 1}, {3, 0}, {3, 7}}, 1},
                                          {{{9, 4}, {9, 8}, {9, 32}}, 1},
                                          {{{33, 2}, {33, 6}}, 1},
                                          {{{5, 257}, {5, 255}}, 1},
                                          {{{2, 3}, {0, 3}, {4, 3}}, 0},
                                          {{{0, 2}, {0, 3}}, 1},
                                          {{{2, 3, 4}, {2, 1, 4}, {2, 2, 4}}, 1},
                                          {{{2, 3, 1}, {2, 3, 2}}, 2}}) {
    OpCase concat{.op = "Concat", .inputs = {}, .attributes = {{"axis", of.axis}}};
    for (const Ints& shape : of.shapes) {
      concat.inputs.push_back(RandomFloats(Shape(shape), concat.inputs.size()));
    }
    ExpectTwinEachWay(concat);
  }
}

TEST(MovesTest, ConcatOfMoreThanALaunchTakes) {
  for (const int64_t inputs : {31, 32, 33, 65}) {
    OpCase concat{.op = "Concat", .inputs = {}};
    for (int64_t i = 0; i < inputs; ++i) {
      concat.inputs.push_back(RandomFloats(Shape({3, 1 + i % 3}), static_cast<uint64_t>(i)));
    }
    ExpectTwin(concat);
    EXPECT_EQ(CostsOf(concat).launches, (inputs + 31) / 32);
  }
}

TEST(MovesTest, SliceTakesARange) {
  struct Case {
    Ints shape;
    int64_t axis, begin, size;
  };
  for (const Case& of : std::vector<Case>{{{3, 5}, 1, 1, 3},
                                          {{3, 5}, 1, 0, 5},
                                          {{3, 5}, 1, 5, 0},
                                          {{0, 5}, 1, 2, 2},
                                          {{7, 5}, 0, 2, 4},
                                          {{9, 32}, 1, 4, 8},
                                          {{9, 32}, 1, 2, 6},
                                          {{33, 33}, 1, 1, 32},
                                          {{2, 5, 3}, 1, 1, 2},
                                          {{2, 5, 4}, 1, 1, 3},
                                          {{5, 300}, 1, 17, 257}}) {
    const Attributes attributes{{"axis", of.axis}, {"begin", of.begin}, {"size", of.size}};
    const Shape shape(of.shape);
    ExpectTwinEachWay(
        {.op = "Slice", .inputs = {RandomFloats(shape, 1)}, .attributes = attributes});
    ExpectTwinEachWay({.op = "Slice",
                       .inputs = {RandomIntegers(DType::kInt64, shape, 1, int64_t{1} << 40)},
                       .attributes = attributes});
  }
}

TEST(MovesTest, PadPutsZerosAround) {
  struct Case {
    Ints shape;
    int64_t axis, before, after;
  };
  for (const Case& of : std::vector<Case>{{{3, 5}, 1, 1, 2},
                                          {{3, 5}, 1, 0, 0},
                                          {{3, 5}, 1, 3, 0},
                                          {{3, 5}, 1, 0, 1},
                                          {{3, 0}, 1, 2, 1},
                                          {{0, 5}, 1, 2, 1},
                                          {{3, 5}, 0, 2, 1},
                                          {{5, 8}, 1, 4, 20},
                                          {{5, 8}, 1, 2, 4},
                                          {{5, 8}, 1, 1, 7},
                                          {{2, 3, 7}, 1, 1, 1},
                                          {{3, 255}, 1, 1, 99}}) {
    ExpectTwinEachWay(
        {.op = "Pad",
         .inputs = {RandomFloats(Shape(of.shape), 1)},
         .attributes = {{"axis", of.axis}, {"before", of.before}, {"after", of.after}}});
  }
}

TEST(MovesTest, SwapLeadingSwapsTwoAxes) {
  for (const Ints& shape : std::vector<Ints>{{0, 5},     {5, 0},     {1, 1},       {1, 33},
                                             {33, 1},    {31, 32},   {32, 33},     {65, 40},
                                             {3, 5, 2},  {5, 3, 0},  {7, 2, 3},    {3, 4, 4},
                                             {9, 5, 32}, {5, 9, 33}, {2, 3, 2, 2}, {2, 3, 1, 1}}) {
    ExpectTwinEachWay({.op = "SwapLeading", .inputs = {RandomFloats(Shape(shape), 1)}});
  }
}

TEST(MovesTest, EachElementIsMovedOnce) {
  const HostTensor x = RandomFloats(Shape({10, 100}), 1);
  EXPECT_EQ(CostsOf({.op = "Concat", .inputs = {x, x}}),
            (OpCosts{.launches = 1, .barriers = 0, .read_bytes = 8'000, .written_bytes = 8'000}));
  EXPECT_EQ(CostsOf({.op = "Pad",
                     .inputs = {x},
                     .attributes = {{"before", int64_t{40}}, {"after", int64_t{60}}}}),
            (OpCosts{.launches = 1, .barriers = 0, .read_bytes = 4'000, .written_bytes = 8'000}));
  EXPECT_EQ(CostsOf({.op = "SwapLeading", .inputs = {RandomFloats(Shape({10, 10, 10}), 1)}}),
            (OpCosts{.launches = 1, .barriers = 0, .read_bytes = 4'000, .written_bytes = 4'000}));
  // Each of four tiles through shared memory.
  EXPECT_EQ(CostsOf({.op = "SwapLeading", .inputs = {x}}),
            (OpCosts{.launches = 1, .barriers = 4, .read_bytes = 8'000, .written_bytes = 8'000}));
}

}  // namespace
}  // namespace taas::cuda
