// That a device that computes right passes, and one that does not is found and named.

#include "trainer/cuda/device_check.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/driver_api.h"
#include "trainer/cuda/fake/fake_gpu.h"
#include "trainer/graph/machine_fault.h"

namespace taas::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

constexpr CheckSizes kSmall{.memory_bytes = 1 << 16, .copy_bytes = 1 << 12, .product = 16,
                            .rounds = 2};

class DeviceCheckTest : public testing::Test {
 protected:
  ~DeviceCheckTest() override {
    for (const char* const function : {"library", "kernel", "copy"}) gpu_.FailAt(function, 0, 0);
  }
  const fake::FakeGpu gpu_;
};

TEST_F(DeviceCheckTest, ADeviceThatComputesRightPassesAndItsSpeedsAreTold) {
  EXPECT_THAT(CheckShortly(gpu_.device()), IsOk());
  const fake::FakeCudaLeft before = gpu_.left();
  const auto check = CheckThoroughly(gpu_.device(), kSmall);
  ASSERT_THAT(check, IsOk());
  EXPECT_EQ(check->memory_bytes, 1 << 16);
  for (const double figure :
       {check->copied_gb_s, check->to_device_gb_s, check->from_device_gb_s,
        check->float32_tflop_s, check->tf32_tflop_s, check->bfloat16_tflop_s, check->seconds}) {
    EXPECT_GT(figure, 0);
  }
  EXPECT_EQ(gpu_.left(), before);
}

TEST_F(DeviceCheckTest, NoMoreThanTheMemoryThatIsFreeIsLookedAt) {
  CheckSizes sizes = kSmall;
  sizes.memory_bytes = int64_t{1} << 40;
  const fake::FakeGpu small("device 9 0 9000000 132 1 small\n");
  const auto check = CheckThoroughly(small.device(), sizes);
  ASSERT_THAT(check, IsOk());
  EXPECT_EQ(check->memory_bytes, 9'000'000 / 10 * 9 / 256 * 256);
}

TEST_F(DeviceCheckTest, AProductThatIsWrongNamesTheDeviceAndItsPrecision) {
  gpu_.FailAt("library", 2, fake::kFlipsABit);
  const absl::Status status = CheckShortly(gpu_.device());
  EXPECT_THAT(status,
              StatusIs(Code::kDataLoss,
                       AllOf(HasSubstr("GPU 0 (NVIDIA H100 80GB HBM3, GPU-a0a0"),
                             HasSubstr("is broken: a product in tf32 gave "))));
  EXPECT_TRUE(IsMachineFault(status));
}

TEST_F(DeviceCheckTest, MemoryThatDoesNotKeepItsBitsIsCounted) {
  gpu_.FailAt("kernel", 4, fake::kFlipsABit);  // After the second pattern was written.
  EXPECT_THAT(CheckThoroughly(gpu_.device(), kSmall),
              StatusIs(Code::kDataLoss,
                       HasSubstr("1 of 8192 words of its memory did not keep what was written, the "
                                 "first is 4096")));
}

TEST_F(DeviceCheckTest, ADeviceThatIsLostMeanwhileIsTold) {
  gpu_.FailAt("kernel", 2, kCuEccUncorrectable);
  const auto check = CheckThoroughly(gpu_.device(), kSmall);
  EXPECT_THAT(check, StatusIs(Code::kUnavailable, HasSubstr("ECC")));
  EXPECT_TRUE(IsMachineFault(check.status()));
}

}  // namespace
}  // namespace taas::cuda
