// ArgMax and Accuracy against their twins on the processor; every load and store is watched.

#include <cmath>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

struct Size {
  int64_t rows, columns;
};
const std::vector<Size> kSizes = {{0, 5},  {1, 1},  {7, 1},   {8, 2},   {9, 31},
                                  {5, 32}, {5, 33}, {33, 10}, {3, 257}};

// Of few values, so that many are as large as the largest.
HostTensor FewValues(const Size& size, int64_t values) {
  const HostTensor integers =
      RandomIntegers(DType::kInt32, Shape({size.rows, size.columns}), 1, values);
  std::vector<float> floats;
  for (const int32_t value : integers.As<int32_t>()) floats.push_back(static_cast<float>(value));
  return Floats(Shape({size.rows, size.columns}), floats);
}

TEST(ArgMaxTest, IsTheFirstOfTheLargest) {
  for (const Size& size : kSizes) {
    ExpectTwin({.op = "ArgMax", .inputs = {FewValues(size, 3)}});
    ExpectTwin({.op = "ArgMax", .inputs = {RandomFloats(Shape({size.rows, size.columns}), 2)}});
  }
}

TEST(ArgMaxTest, OfWhatIsNoNumberIsItsTwin) {
  const float nan = std::nanf(""), infinity = HUGE_VALF;
  ExpectTwin({.op = "ArgMax",
              .inputs = {Floats(Shape({5, 4}), {nan,       1,         2,         3,         //
                                                1,         nan,       2,         2,         //
                                                1,         nan,       0,         nan,       //
                                                -infinity, -infinity, -infinity, -infinity, //
                                                0,         infinity,  nan,       infinity})}});
}

TEST(ArgMaxTest, AccuracyIsTheShareOfRowsThatAreRight) {
  for (const Size& size : kSizes) {
    OpCase of{.op = "Accuracy",
              .inputs = {FewValues(size, 4),
                         RandomIntegers(DType::kInt32, Shape({size.rows}), 3, size.columns)}};
    ExpectTwin(of);
    // What is no class is never right.
    const std::vector<int32_t> none(static_cast<size_t>(size.rows), -1);
    of.inputs[1] = TensorOf(DType::kInt32, Shape({size.rows}), none);
    ExpectTwin(of);
  }
  // More rows than blocks take at once.
  ExpectTwin({.op = "Accuracy",
              .inputs = {FewValues({521, 3}, 4),
                         RandomIntegers(DType::kInt32, Shape({521}), 3, 3)},
              .orders = 3});
}

TEST(ArgMaxTest, EachElementIsReadOnce) {
  // And the first of a row by all lanes.
  const HostTensor x = RandomFloats(Shape({16, 100}), 1);
  EXPECT_EQ(CostsOf({.op = "ArgMax", .inputs = {x}}),
            (OpCosts{.launches = 1,
                     .barriers = 0,
                     .read_bytes = 6'400 + 16 * 32 * 4,
                     .written_bytes = 64}));
  // Labels are read by all lanes, too; two blocks have eight counts each in shared memory.
  EXPECT_EQ(CostsOf({.op = "Accuracy",
                     .inputs = {x, RandomIntegers(DType::kInt32, Shape({16}), 1, 100)}}),
            (OpCosts{.launches = 2,
                     .barriers = 2,
                     .read_bytes = 6'400 + 2 * 16 * 32 * 4 + 2 * 32 + 8,
                     .written_bytes = 2 * 32 + 8 + 4}));
}

}  // namespace
}  // namespace taas::cuda
