// Layer normalization against its twins on the processor: rows of a warp, in its registers or not,
// and of a block.

#include <cstdint>

#include "gtest/gtest.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

struct Size {
  int64_t rows, columns;
};
constexpr Size kSizes[] = {{0, 3},  {1, 1},   {2, 31},    {8, 32},   {9, 33},
                           {3, 257}, {1, 1'024}, {2, 1'025}, {3, 4}, {9, 260}, {70, 36},
                           {1, 1'028}};

OpCase Norm(int64_t rows, int64_t columns, double mean = 0) {
  return {.op = "LayerNorm",
          .inputs = {RandomFloats(Shape({rows, columns}), 1, mean - 1, mean + 1),
                     RandomFloats(Shape({columns}), 2, 0.5, 1.5),
                     RandomFloats(Shape({columns}), 3)},
          .tolerance = 1e-5};
}

// The inverse is about as large as the rows' are.
OpCase NormGrad(int64_t rows, int64_t columns) {
  return {.op = "LayerNormGrad",
          .inputs = {RandomFloats(Shape({rows, columns}), 1),
                     RandomFloats(Shape({rows, columns}), 2),
                     RandomFloats(Shape({columns}), 3, 0.5, 1.5),
                     RandomFloats(Shape({rows}), 4, -0.1, 0.1),
                     RandomFloats(Shape({rows}), 5, 1, 2)},
          .tolerance = 1e-5};
}

TEST(LayerNormTest, IsItsTwin) {
  for (const auto& [rows, columns] : kSizes) ExpectTwin(Norm(rows, columns));
}

// A mean a thousand times the deviation, of which a difference of squares would leave no digit.
TEST(LayerNormTest, KeepsTheVariancesDigits) {
  OpCase far = Norm(3, 65, 1'000);
  far.tolerance = 1e-3;  // A float at 1,000 has steps of 6e-5, and a mean of it errors of more.
  ExpectTwin(far);
}

TEST(LayerNormTest, GradientIsItsTwin) {
  for (const auto& [rows, columns] : kSizes) ExpectTwin(NormGrad(rows, columns));
}

TEST(LayerNormTest, MemoryThatIsNoMultipleOfSixteenBytesIsMovedOneByOne) {
  for (OpCase behind : {Norm(9, 32), NormGrad(9, 32)}) {
    behind.behind = 4;
    ExpectTwin(behind);
  }
}

// Of 512 elements, 2,048 bytes: x once with scale and offset; backwards dy, x and scale once with
// the rows' moments, then the sums of two blocks and of the warps in them, and 8,192 bytes of
// shared memory in each of four that join the two.
TEST(LayerNormTest, IsAPassOverMemoryAndSoIsItsGradient) {
  EXPECT_EQ(CostsOf(Norm(16, 32)),
            (OpCosts{.launches = 1, .barriers = 0, .read_bytes = 6'144, .written_bytes = 2'176}));
  EXPECT_EQ(CostsOf(NormGrad(16, 32)),
            (OpCosts{.launches = 2, .barriers = 44, .read_bytes = 14'848,
                     .written_bytes = 72'192}));
}

}  // namespace
}  // namespace taas::cuda
