// Batch normalization against its twins on the processor: few and many channels, rows of one block
// and of several.

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

struct Size {
  int64_t rows, channels;
};
constexpr Size kSizes[] = {{0, 3},   {1, 1},   {2, 32},  {33, 31}, {65, 33},
                           {257, 32}, {263, 5}, {9, 129}};

constexpr double kSums = 1e-5;

HostTensor Channels(int64_t channels, uint64_t seed) {
  return RandomFloats(Shape({channels}), seed, 0.5, 1.5);
}

OpCase Norm(int64_t rows, int64_t channels, double mean) {
  return {.op = "BatchNorm",
          .inputs = {RandomFloats(Shape({rows, channels}), 1, mean - 1, mean + 1),
                     Channels(channels, 2), RandomFloats(Shape({channels}), 3)},
          .tolerance = kSums};
}

TEST(BatchNormTest, IsItsTwin) {
  for (const auto& [rows, channels] : kSizes) ExpectTwin(Norm(rows, channels, 0.3));
  OpCase images = Norm(1, 5, 0);
  images.inputs[0] = RandomFloats(Shape({3, 4, 2, 5}), 4);
  ExpectTwin(images);
}

// A mean a thousand times the deviation, of which a difference of squares would leave no digit.
TEST(BatchNormTest, KeepsTheVariancesDigits) {
  OpCase far = Norm(257, 3, 1'000);
  far.tolerance = 1e-3;  // A float at 1,000 has steps of 6e-5, and a mean of it errors of more.
  ExpectTwin(far);
}

// A mean that is begun with another number is a little off, which shows where it is very small.
TEST(BatchNormTest, OfEqualRowsTheMeanIsTheirNumberHoweverSmall) {
  OpCase equal = Norm(64, 3, 0);
  equal.inputs[0] = Floats(Shape({64, 3}), std::vector<float>(64 * 3, 0x1p-30f));
  equal.tolerance = 0;
  ExpectTwin(equal);
}

TEST(BatchNormTest, GradientIsItsTwin) {
  for (const auto& [rows, channels] : kSizes) {
    if (rows == 0) continue;  // It divides by them: what is left is no number in either.
    ExpectTwin({.op = "BatchNormGrad",
                .inputs = {RandomFloats(Shape({rows, channels}), 1),
                           RandomFloats(Shape({rows, channels}), 2), Channels(channels, 3),
                           RandomFloats(Shape({channels}), 4, -0.1, 0.1), Channels(channels, 5)},
                .attributes = {{"epsilon", 0.01}},
                .tolerance = kSums});
  }
}

TEST(BatchNormTest, InferenceIsItsTwin) {
  for (const auto& [rows, channels] : kSizes) {
    ExpectTwin({.op = "BatchNormInference",
                .inputs = {RandomFloats(Shape({rows, channels}), 1), Channels(channels, 2),
                           RandomFloats(Shape({channels}), 3), RandomFloats(Shape({channels}), 4),
                           Channels(channels, 5)},
                .tolerance = 1e-6});
  }
}

// Of 4,096 elements, 16,384 bytes each; the rest is shared memory, moments, and 16 bytes for each
// of 512 threads that normalize.
TEST(BatchNormTest, IsTwoPassesOverMemory) {
  EXPECT_EQ(CostsOf(Norm(128, 32, 0)),
            (OpCosts{.launches = 3, .barriers = 2, .read_bytes = 44'032,
                     .written_bytes = 23'168}));
}

}  // namespace
}  // namespace taas::cuda
