// Convolutions by plans of a device, that of the driver and the cuDNN which stand for NVIDIA's,
// against oneDNN's on the processor. With the cases of conv_test, which are linked in.

#include "trainer/kernels/cuda/planned_conv.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "trainer/cuda/fake/fake_gpu.h"
#include "trainer/kernels/cuda/conv_ops.h"
#include "trainer/kernels/cuda/testing/card_twin.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

using Ints = std::vector<int64_t>;

// On which all cases of this program run.
class Card : public testing::Environment {
 public:
  void SetUp() override {
    gpu_ = std::make_unique<fake::FakeGpu>();
    twins_ = std::make_unique<CardTwins>(gpu_->device());
  }
  void TearDown() override {
    twins_.reset();
    gpu_->Close();
    EXPECT_EQ(gpu_->left(), fake::FakeCudaLeft{});
  }
  int Calls(const std::string& function) const { return gpu_->Calls(function); }

 private:
  std::unique_ptr<fake::FakeGpu> gpu_;
  std::unique_ptr<CardTwins> twins_;
};
const Card& kCard = *static_cast<const Card*>(testing::AddGlobalTestEnvironment(
    std::make_unique<Card>().release()));

// The three ops of one convolution with padding SAME.
std::vector<OpCase> CasesOf(const Shape& images, const Shape& weights, const Shape& outputs,
                            const Attributes& attributes = {}) {
  std::vector<OpCase> cases = {
      {.op = "Conv2D", .inputs = {RandomFloats(images, 1), RandomFloats(weights, 2)}},
      {.op = "Conv2DInputGrad", .inputs = {RandomFloats(outputs, 1), RandomFloats(weights, 2)}},
      {.op = "Conv2DWeightsGrad", .inputs = {RandomFloats(images, 1), RandomFloats(outputs, 2)}}};
  for (OpCase& of : cases) {
    of.attributes = attributes;
    of.tolerance = 1e-5;
  }
  cases[1].attributes.Set("image_size", Ints{images.dim(1), images.dim(2)});
  cases[2].attributes.Set("kernel_size", Ints{weights.dim(0), weights.dim(1)});
  return cases;
}
std::vector<OpCase> OneConvolution() {
  return CasesOf(Shape({5, 6, 4, 3}), Shape({3, 3, 3, 2}), Shape({5, 6, 4, 2}));
}

TEST(PlannedConvTest, AConvolutionIsOneCallBesideAFilterThatIsTransposed) {
  for (const OpCase& of : OneConvolution()) {
    ExpectTwin(of);
    const int executed = kCard.Calls("cudnnBackendExecute");
    EXPECT_EQ(CostsOf(of).launches, 2) << of.op;
    EXPECT_EQ(kCard.Calls("cudnnBackendExecute"), executed + 1) << of.op;
  }
}

TEST(PlannedConvTest, TensorCoresRoundOnlyWhereTheProductsMay) {
  for (const Precision products : {Precision::kTf32, Precision::kBFloat16}) {
    for (OpCase of : OneConvolution()) {
      of.products = products;
      of.tolerance = products == Precision::kTf32 ? 2e-3 : 1e-2;
      ExpectTwin(of);
      EXPECT_EQ(CostsOf(of).launches, 2) << of.op;
      const HostTensor rounded = OnGpu(of)[0];
      of.products = Precision::kFloat32;
      EXPECT_NE(rounded.bytes, OnGpu(of)[0].bytes) << of.op;
    }
  }
}

// The library has no plan for strides that differ.
TEST(PlannedConvTest, WhatHasNoPlanIsComputedByPatches) {
  const int executed = kCard.Calls("cudnnBackendExecute");
  for (const OpCase& of : CasesOf(Shape({2, 7, 6, 1}), Shape({3, 3, 1, 2}), Shape({2, 4, 2, 2}),
                                  {{"strides", Ints{2, 3}}})) {
    ExpectTwin(of);
  }
  EXPECT_EQ(kCard.Calls("cudnnBackendExecute"), executed);
}

TEST(PlannedConvTest, APaddingThatCannotBeEvenHasAPlanToo) {
  const int executed = kCard.Calls("cudnnBackendExecute");
  for (const OpCase& of : CasesOf(Shape({2, 8, 6, 3}), Shape({3, 3, 3, 2}), Shape({2, 4, 3, 2}),
                                  {{"strides", Ints{2, 2}}})) {
    ExpectTwin(of);
  }
  EXPECT_EQ(kCard.Calls("cudnnBackendExecute"), executed + 3 * 2) << "each case runs twice";
}

TEST(PlannedConvTest, AProductStaysOneAndNothingStaysNothing) {
  const int executed = kCard.Calls("cudnnBackendExecute");
  for (const OpCase& of : CasesOf(Shape({3, 4, 5, 6}), Shape({1, 1, 6, 7}), Shape({3, 4, 5, 7}))) {
    ExpectTwin(of);
    EXPECT_EQ(CostsOf(of).launches, 1) << of.op;
  }
  for (const OpCase& of : CasesOf(Shape({0, 4, 4, 1}), Shape({3, 3, 1, 2}), Shape({0, 4, 4, 2}))) {
    ExpectTwin(of);
  }
  EXPECT_EQ(kCard.Calls("cudnnBackendExecute"), executed);
}

TEST(EvenPaddingTest, ItIsEvenWhereTheOutputsAreTheSame) {
  // SAME of 32 by 3 with stride 2 has a zero behind, and none in front.
  const ConvShape uneven{.image = {32, 33},
                         .filter = {3, 3},
                         .output = {16, 17},
                         .stride = {2, 2},
                         .before = {0, 1},
                         .after = {1, 1}};
  EXPECT_EQ(WithEvenPadding(uneven), uneven);
  // A row of zeros behind that no window reaches, or one that is missing there.
  ConvShape shape{.image = {6, 7},
                  .filter = {3, 3},
                  .output = {3, 4},
                  .stride = {2, 2},
                  .before = {1, 1},
                  .after = {0, 2}};
  shape = WithEvenPadding(shape);
  EXPECT_EQ(shape.before, (ConvShape::Pair{1, 1}));
  EXPECT_EQ(shape.after, (ConvShape::Pair{1, 1}));
  // Smaller than the filter, but for what lies behind.
  const ConvShape small{
      .image = {2, 2}, .filter = {3, 3}, .output = {1, 1}, .before = {0, 0}, .after = {1, 1}};
  EXPECT_EQ(WithEvenPadding(small), small);
}

}  // namespace
}  // namespace taas::cuda
