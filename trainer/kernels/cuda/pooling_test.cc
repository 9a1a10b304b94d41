// Pooling and its gradients against their twins on the processor: windows that share pixels, that
// leave some out, that padding cuts off, and maxima that are several times in one window.

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

using Ints = std::vector<int64_t>;

struct Pooling {
  Ints images;  // n, height, width, channels.
  Ints size, strides;
  std::string padding = "SAME";
  Ints paddings{};
};

const std::vector<Pooling>& Poolings() {
  static const std::vector<Pooling> kPoolings = {
      {{2, 4, 6, 3}, {2, 2}, {2, 2}},
      {{1, 5, 7, 33}, {3, 3}, {2, 2}},
      {{3, 7, 5, 1}, {3, 2}, {1, 1}},
      {{2, 7, 6, 5}, {2, 2}, {3, 3}, "VALID"},
      {{1, 6, 6, 2}, {3, 3}, {2, 1}, "EXPLICIT", {1, 2, 0, 1}},
      {{1, 1, 1, 1}, {1, 1}, {1, 1}},
      {{1, 2, 70, 4}, {2, 2}, {2, 2}},
      {{1, 2, 140, 5}, {2, 2}, {2, 2}},  // Rows of more than a block.
      {{1, 5, 70, 16}, {3, 3}, {2, 2}},  // And by fours.
      {{0, 4, 4, 3}, {2, 2}, {2, 2}},
  };
  return kPoolings;
}

Attributes AttributesOf(const Pooling& pooling) {
  return {{"size", pooling.size},
          {"strides", pooling.strides},
          {"padding", pooling.padding},
          {"explicit_paddings", pooling.paddings}};
}

// Small integers: some are several times in a window.
HostTensor Images(const Ints& dims, uint64_t seed, int64_t values = 6) {
  const HostTensor integers = RandomIntegers(DType::kInt32, Shape(dims), seed, values);
  std::vector<float> floats;
  for (const int32_t value : integers.As<int32_t>()) {
    floats.push_back(static_cast<float>(value) - 2);
  }
  return Floats(Shape(dims), floats);
}

OpCase Pool(const std::string& op, const Pooling& pooling) {
  return {.op = op, .inputs = {Images(pooling.images, 1)}, .attributes = AttributesOf(pooling)};
}

// What the op makes of those images, by its definition and kernel.
HostTensor OutputOf(const Pooling& pooling, const HostTensor& images) {
  return OnProcessor({.op = "MaxPool", .inputs = {images}, .attributes = AttributesOf(pooling)});
}

OpCase MaxGrad(const std::string& op, const Pooling& pooling, HostTensor images) {
  HostTensor y = OutputOf(pooling, images);
  HostTensor dy = RandomFloats(y.type.shape, 2);
  return {.op = op,
          .inputs = {std::move(dy), std::move(images), std::move(y)},
          .attributes = AttributesOf(pooling)};
}

TEST(PoolingTest, IsItsTwin) {
  for (const Pooling& pooling : Poolings()) {
    ExpectTwin(Pool("MaxPool", pooling));
    ExpectTwin(Pool("AvgPool", pooling));
  }
}

TEST(PoolingTest, GradientOfMaximaIsItsTwin) {
  for (const Pooling& pooling : Poolings()) {
    ExpectTwin(MaxGrad("MaxPoolGrad", pooling, Images(pooling.images, 1)));
    ExpectTwin(MaxGrad("MaxPoolReluGrad", pooling, Images(pooling.images, 3, 4)));
  }
}

TEST(PoolingTest, MemoryThatIsNoMultipleOfSixteenBytesIsMovedOneByOne) {
  const Pooling pooling{{1, 5, 7, 4}, {3, 3}, {2, 2}};
  for (OpCase behind :
       {Pool("MaxPool", pooling), MaxGrad("MaxPoolGrad", pooling, Images(pooling.images, 1))}) {
    behind.behind = 4;
    ExpectTwin(behind);
  }
}

TEST(PoolingTest, GradientOfMeansIsItsTwin) {
  for (const Pooling& pooling : Poolings()) {
    Attributes attributes = AttributesOf(pooling);
    attributes.Set("image_size", Ints{pooling.images[1], pooling.images[2]});
    const Shape out = OutputOf(pooling, Images(pooling.images, 1)).type.shape;
    ExpectTwin({.op = "AvgPoolGrad",
                .inputs = {RandomFloats(out, 2)},
                .attributes = attributes,
                .tolerance = 1e-6});
  }
}

TEST(PoolingTest, NanIsAMaximumAndHasTheGradient) {
  const Pooling pooling{{1, 2, 4, 1}, {2, 2}, {1, 2}};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {1, nan, 3, 0, 2, 5, nan, nan};
  std::vector<float> fours;
  for (const float value : values) fours.insert(fours.end(), {value, 1, nan, 1});
  for (const HostTensor& images :
       {Floats(Shape({1, 2, 4, 1}), values), Floats(Shape({1, 2, 4, 4}), fours)}) {
    ExpectTwin({.op = "MaxPool", .inputs = {images}, .attributes = AttributesOf(pooling)});
    ExpectTwin(MaxGrad("MaxPoolGrad", pooling, images));
    ExpectTwin(MaxGrad("MaxPoolReluGrad", pooling, images));
  }
}

// A maximum begins with the first, which it reads again.
TEST(PoolingTest, ReadsEachWindowOnce) {
  const Pooling pooling{{2, 4, 4, 32}, {2, 2}, {2, 2}};
  EXPECT_EQ(CostsOf(Pool("MaxPool", pooling)),
            (OpCosts{.launches = 1, .barriers = 0, .read_bytes = 5'120, .written_bytes = 1'024}));
  EXPECT_EQ(CostsOf(Pool("AvgPool", pooling)),
            (OpCosts{.launches = 1, .barriers = 0, .read_bytes = 4'096, .written_bytes = 1'024}));
}

}  // namespace
}  // namespace taas::cuda
