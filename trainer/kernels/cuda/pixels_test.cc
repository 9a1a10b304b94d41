// DecodePixels against its twin on the processor, bit by bit; every load and store is watched.

#include <vector>

#include "gtest/gtest.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

HostTensor Images(const std::vector<int64_t>& shape) {
  return RandomIntegers(DType::kUint8, Shape(shape), 1, 256);
}

// Large, and some of them negative.
HostTensor Seeds(int64_t images) {
  std::vector<int64_t> seeds;
  for (int64_t i = 0; i < images; ++i) {
    seeds.push_back(static_cast<int64_t>(0x9e3779b97f4a7c15u * static_cast<uint64_t>(i + 1)));
  }
  return TensorOf(DType::kInt64, Shape({images}), seeds);
}

TEST(PixelsTest, EachSizeIsItsTwin) {
  for (const int64_t n : {0, 1, 3, 4, 5, 31, 33, 255, 257, 1'023, 1'025}) {
    OpCase of{.op = "DecodePixels", .inputs = {Images({n})}};
    ExpectTwin(of);
    of.attributes = {{"scale", 0.017}, {"offset", -2.1}};
    ExpectTwin(of);
    of.behind = 4;
    ExpectTwin(of);
  }
}

TEST(PixelsTest, ImagesAreCutAndMirroredAsOnTheProcessor) {
  struct Case {
    std::vector<int64_t> shape;
    int64_t padding;
    bool flip;
  };
  for (const Case& of : std::vector<Case>{{{0, 4, 4, 1}, 1, true},
                                          {{5, 1, 1, 1}, 0, true},
                                          {{9, 4, 5, 1}, 2, true},
                                          {{9, 5, 4, 3}, 3, true},
                                          {{9, 6, 7, 3}, 0, true},
                                          {{9, 6, 7, 3}, 4, false},
                                          {{3, 33, 31, 2}, 4, true},
                                          {{2, 40, 41, 3}, 8, true}}) {
    ExpectTwin({.op = "DecodePixels",
                .inputs = {Images(of.shape), Seeds(of.shape[0])},
                .attributes = {{"scale", 0.017},
                               {"offset", -2.1},
                               {"crop_padding", of.padding},
                               {"flip", of.flip}}});
  }
}

TEST(PixelsTest, EachPixelIsMovedOnce) {
  EXPECT_EQ(CostsOf({.op = "DecodePixels", .inputs = {Images({1'000})}}),
            (OpCosts{.launches = 1, .barriers = 0, .read_bytes = 1'000, .written_bytes = 4'000}));
  // Of three images, each a block with its move: 24 bytes of shared memory, which 256 threads read.
  EXPECT_EQ(CostsOf({.op = "DecodePixels",
                     .inputs = {Images({3, 10, 10, 3}), Seeds(3)},
                     .attributes = {{"flip", true}}}),
            (OpCosts{.launches = 1,
                     .barriers = 3,
                     .read_bytes = 3 * (300 + 8 + 256 * 24),
                     .written_bytes = 3 * (1'200 + 24)}));
}

}  // namespace
}  // namespace taas::cuda
