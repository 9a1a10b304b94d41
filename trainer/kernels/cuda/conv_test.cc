// Convolutions and their gradients against oneDNN's on the processor.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "trainer/kernels/cuda/conv_ops.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

using Ints = std::vector<int64_t>;

struct ConvCase {
  const char* name;
  Shape images, weights, outputs;
  Attributes attributes;
};

class ConvTest : public testing::TestWithParam<ConvCase> {
 protected:
  void Expect(const std::string& op, const std::array<const Shape*, 2>& inputs,
              const char* more, const Ints& size) {
    Attributes attributes = GetParam().attributes;
    if (more != nullptr) attributes.Set(more, size);
    ExpectTwin({.op = op,
                .inputs = {RandomFloats(*inputs[0], 1), RandomFloats(*inputs[1], 2)},
                .attributes = attributes,
                .tolerance = 1e-5,
                .orders = 4});
  }
};

TEST_P(ConvTest, ForwardAndBothGradientsAreTheirTwins) {
  const ConvCase& of = GetParam();
  Expect("Conv2D", {&of.images, &of.weights}, nullptr, {});
  Expect("Conv2DInputGrad", {&of.outputs, &of.weights}, "image_size",
         {of.images.dim(1), of.images.dim(2)});
  Expect("Conv2DWeightsGrad", {&of.images, &of.outputs}, "kernel_size",
         {of.weights.dim(0), of.weights.dim(1)});
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ConvTest,
    testing::Values(
        ConvCase{"Same", Shape({2, 5, 4, 3}), Shape({3, 3, 3, 2}), Shape({2, 5, 4, 2}), {}},
        ConvCase{"Valid", Shape({1, 6, 5, 2}), Shape({3, 2, 2, 3}), Shape({1, 4, 4, 3}),
                 {{"padding", "VALID"}}},
        ConvCase{"Strides", Shape({2, 7, 6, 1}), Shape({3, 3, 1, 2}), Shape({2, 4, 2, 2}),
                 {{"strides", Ints{2, 3}}}},
        ConvCase{"StrideBeyondTheWindow", Shape({1, 7, 7, 2}), Shape({1, 1, 2, 2}),
                 Shape({1, 3, 3, 2}), {{"strides", Ints{3, 3}}}},
        ConvCase{"Explicit", Shape({1, 4, 4, 1}), Shape({3, 3, 1, 1}), Shape({1, 5, 6, 1}),
                 {{"padding", "EXPLICIT"}, {"explicit_paddings", Ints{2, 1, 1, 3}}}},
        ConvCase{"OneByOne", Shape({3, 4, 5, 6}), Shape({1, 1, 6, 7}), Shape({3, 4, 5, 7}), {}},
        ConvCase{"NoImage", Shape({0, 4, 4, 1}), Shape({3, 3, 1, 2}), Shape({0, 4, 4, 2}), {}}),
    [](const auto& info) { return std::string(info.param.name); });

// Five images, two of whose patches have room at a time.
TEST(ConvPartsTest, PartsOfABatchComeToTheSame) {
  const Shape images({5, 4, 4, 2}), weights({3, 3, 2, 3}), outputs({5, 4, 4, 3});
  KernelRegistry kernels;
  AddConvKernels(&kernels, {.patches_bytes_max = 2 * 16 * 18 * 4, .planned = false});
  for (OpCase of : {OpCase{.op = "Conv2D", .inputs = {RandomFloats(images, 1),
                                                      RandomFloats(weights, 2)}},
                    OpCase{.op = "Conv2DInputGrad",
                           .inputs = {RandomFloats(outputs, 1), RandomFloats(weights, 2)},
                           .attributes = {{"image_size", Ints{4, 4}}}},
                    OpCase{.op = "Conv2DWeightsGrad",
                           .inputs = {RandomFloats(images, 1), RandomFloats(outputs, 2)},
                           .attributes = {{"kernel_size", Ints{3, 3}}}}}) {
    of.tolerance = 1e-5;
    of.orders = 4;
    of.kernels = &kernels;
    ExpectTwin(of);
    EXPECT_EQ(CostsOf(of).launches, 2 * 3) << of.op;
  }
}

TEST(ConvPartsTest, EachElementOfAPatchIsWrittenOnce) {
  KernelRegistry kernels;
  AddConvKernels(&kernels, {.planned = false});
  const OpCosts costs = CostsOf({.op = "Conv2D",
                                 .inputs = {RandomFloats(Shape({2, 2, 2, 1}), 1),
                                            RandomFloats(Shape({2, 2, 1, 3}), 2)},
                                 .kernels = &kernels});
  // Of the sixteen that the four patches of an image have, nine lie in it.
  EXPECT_EQ(costs, (OpCosts{.launches = 2,
                            .barriers = 0,
                            .read_bytes = 2 * (4 + 2 + 2 + 1) * 4,
                            .written_bytes = 2 * 4 * 4 * 4}));
}

}  // namespace
}  // namespace taas::cuda
