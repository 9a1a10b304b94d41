#include "operator/base/nvml.h"

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class NvmlTest : public ::testing::Test {
 protected:
  NvmlTest() { Devices("GPU-aaaa 93 61234 81559 NVIDIA H100 80GB HBM3\n"); }

  void Devices(const std::string& lines) {
    std::ofstream(file_, std::ios::trunc) << lines;
    setenv("TAAS_FAKE_NVML", file_.c_str(), 1);
  }

  const std::string file_ = ::testing::TempDir() + "/devices";
  const std::string library_ = "operator/base/libnvidia-ml.so.1";
};

TEST_F(NvmlTest, TellsWhatEachDeviceIsAndHowBusy) {
  const auto nvml = Nvml::Load(library_.c_str());
  ASSERT_THAT(nvml, IsOk());
  auto gpus = (*nvml)->Read();
  ASSERT_THAT(gpus, IsOk());
  ASSERT_THAT(*gpus, SizeIs(1));
  const GpuReading want{.id = "GPU-aaaa", .index = 0, .name = "NVIDIA H100 80GB HBM3",
                        .utilization = 0.93, .memory_used_mib = 61'234,
                        .memory_total_mib = 81'559};
  EXPECT_EQ(gpus->front(), want);
  Devices("GPU-aaaa 0 10 81559 NVIDIA H100\n");
  gpus = (*nvml)->Read();
  ASSERT_THAT(gpus, IsOk());
  EXPECT_EQ(gpus->front().utilization, 0) << "as it is now";
}

TEST_F(NvmlTest, LeavesOutWhatADeviceDoesNotTell) {
  Devices("lost\nGPU-bbbb - 100 200 A100\nGPU-cccc 101 1 2 broken\n");
  const auto nvml = Nvml::Load(library_.c_str());
  ASSERT_THAT(nvml, IsOk());
  const auto gpus = (*nvml)->Read();
  ASSERT_THAT(gpus, IsOk());
  ASSERT_THAT(*gpus, SizeIs(2)) << "one has fallen off the bus";
  EXPECT_EQ(gpus->front().id, "GPU-bbbb");
  EXPECT_EQ(gpus->front().index, 1) << "by which CUDA names it";
  EXPECT_EQ(gpus->front().utilization, std::nullopt);
  EXPECT_EQ(gpus->front().memory_used_mib, 100);
  EXPECT_EQ(gpus->back().utilization, std::nullopt) << "101 % is none";
}

TEST_F(NvmlTest, SaysWhyThereIsNone) {
  EXPECT_THAT(Nvml::Load("libno-such-library.so.1"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("libno-such-library.so.1")));
  EXPECT_THAT(Nvml::Load("libdl.so.2"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("nvmlInit_v2")));
  unsetenv("TAAS_FAKE_NVML");
  EXPECT_THAT(Nvml::Load(library_.c_str()),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr("NVML: start"), HasSubstr("Driver Not Loaded"))));
}

TEST_F(NvmlTest, ADriverThatGoesAwayIsAnError) {
  const auto nvml = Nvml::Load(library_.c_str());
  ASSERT_THAT(nvml, IsOk());
  unsetenv("TAAS_FAKE_NVML");
  EXPECT_THAT((*nvml)->Read(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("count devices")));
}

}  // namespace
}  // namespace taas
