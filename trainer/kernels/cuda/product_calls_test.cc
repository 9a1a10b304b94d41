// Products with what belongs to a bias, by the driver and the cuBLASLt that stand for NVIDIA's.
// With the cases of product_test, which are linked in.

#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "trainer/cuda/fake/fake_gpu.h"
#include "trainer/kernels/cuda/testing/card_twin.h"
#include "trainer/kernels/cuda/testing/twin.h"

namespace taas::cuda {
namespace {

// On which all cases of this program run.
class Card : public testing::Environment {
 public:
  void SetUp() override {
    gpu_ = std::make_unique<fake::FakeGpu>();
    twins_ = std::make_unique<CardTwins>(gpu_->device());
  }
  void TearDown() override {
    EXPECT_GT(gpu_->Calls("library"), 0);
    twins_.reset();
    gpu_->Close();
    EXPECT_EQ(gpu_->left(), fake::FakeCudaLeft{});
  }

 private:
  std::unique_ptr<fake::FakeGpu> gpu_;
  std::unique_ptr<CardTwins> twins_;
};
[[maybe_unused]] const auto* const kCard = testing::AddGlobalTestEnvironment(
    std::make_unique<Card>().release());

// Rounded are the factors of the product, and not the sums of a bias's gradient.
TEST(ProductCallsTest, TensorCoresRoundTheFactorsAlone) {
  OpCase of{.op = "MatMulBiasGrad",
            .inputs = {RandomFloats(Shape({9, 2}), 1), RandomFloats(Shape({9, 3}), 2)}};
  const std::vector<HostTensor> exact = OnGpu(of);
  of.products = Precision::kTf32;
  const std::vector<HostTensor> rounded = OnGpu(of);
  EXPECT_NE(rounded[0].bytes, exact[0].bytes);
  EXPECT_EQ(rounded[1].bytes, exact[1].bytes);
}

}  // namespace
}  // namespace taas::cuda
