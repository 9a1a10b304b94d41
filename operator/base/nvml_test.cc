#include "operator/base/nvml.h"

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
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

constexpr char kWell[] =
    "GPU-aaaa 93 61234 81559 power=412500 limit=700000 temperature=64 reasons=36 ecc=1 "
    "volatile=7,2 aggregate=9,3 remapped=1,2,1,0 retiring=0 NVIDIA H100 80GB HBM3\n";

TEST_F(NvmlTest, TellsPowerHeatAndWhatSlowsADeviceDown) {
  Devices(kWell);
  const auto nvml = Nvml::Load(library_.c_str());
  ASSERT_THAT(nvml, IsOk());
  const auto gpus = (*nvml)->Read();
  ASSERT_THAT(gpus, IsOk());
  const GpuReading want{.id = "GPU-aaaa", .index = 0, .name = "NVIDIA H100 80GB HBM3",
                        .utilization = 0.93, .memory_used_mib = 61'234,
                        .memory_total_mib = 81'559, .power_watts = 412.5,
                        .power_limit_watts = 700, .temperature_c = 64,
                        .throttle = {{"PowerCap", "Heat"}}, .ecc_uncorrected = 2};
  EXPECT_EQ(gpus->front(), want);
}

TEST_F(NvmlTest, ADeviceIsFoundByItsIdAndSoIsAPartOfOne) {
  Devices("GPU-aaaa 1 2 3 H100\nGPU-bbbb 5 10 100 power=90000 H100\n"
          "MIG-cccc - 100 9856 H100 MIG 1g.10gb\n");
  const auto nvml = Nvml::Load(library_.c_str());
  ASSERT_THAT(nvml, IsOk());
  const auto whole = (*nvml)->Read(std::string("GPU-bbbb"));
  ASSERT_THAT(whole, IsOk());
  EXPECT_EQ(whole->index, 1);
  EXPECT_EQ(whole->power_watts, 90);
  const auto part = (*nvml)->Read(std::string("MIG-cccc"));
  ASSERT_THAT(part, IsOk());
  const GpuReading want{.id = "MIG-cccc", .name = "H100 MIG 1g.10gb", .memory_used_mib = 100,
                        .memory_total_mib = 9856};
  EXPECT_EQ(*part, want) << "unknown is not 0";
  EXPECT_EQ(*(*nvml)->Health("MIG-cccc"), GpuHealth{}) << "of a part nothing is told";
  EXPECT_THAT(*(*nvml)->Read(), SizeIs(2)) << "the part is no device of its own";
  EXPECT_THAT((*nvml)->Read(std::string("GPU-dddd")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("find device GPU-dddd")));
  EXPECT_THAT((*nvml)->Health("GPU-dddd"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(NvmlTest, TellsWhatHasBecomeOfMemory) {
  Devices(kWell);
  const auto nvml = Nvml::Load(library_.c_str());
  ASSERT_THAT(nvml, IsOk());
  const GpuHealth want{.ecc = true, .corrected = 7, .uncorrected = 2, .corrected_ever = 9,
                       .uncorrected_ever = 3, .remapped_rows = 3, .remap_pending = true,
                       .remap_failed = false, .retirement_pending = false};
  EXPECT_EQ(*(*nvml)->Health("GPU-aaaa"), want);
  Devices("GPU-aaaa 1 2 3 ecc=0 remapped=0,0,0,1 retiring=1 A100\n");
  const GpuHealth worn{.ecc = false, .remapped_rows = 0, .remap_pending = false,
                       .remap_failed = true, .retirement_pending = true};
  EXPECT_EQ(*(*nvml)->Health("GPU-aaaa"), worn);
}

TEST(ThrottleWordsTest, AreOfWhatSlowsWorkDownOnly) {
  EXPECT_THAT(ThrottleWords(0), IsEmpty());
  EXPECT_THAT(ThrottleWords(0x1 | 0x2 | 0x100), IsEmpty()) << "idle, clocks that somebody set";
  EXPECT_THAT(ThrottleWords(0x4), ElementsAre("PowerCap"));
  EXPECT_THAT(ThrottleWords(0x8), ElementsAre("HardwareSlowdown")) << "it says no more";
  EXPECT_THAT(ThrottleWords(0x8 | 0x40), ElementsAre("HardwareHeat"));
  EXPECT_THAT(ThrottleWords(0x8 | 0x80), ElementsAre("PowerBrake"));
  EXPECT_THAT(ThrottleWords(~uint64_t{0}),
              ElementsAre("PowerCap", "SyncBoost", "Heat", "HardwareHeat", "PowerBrake"));
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
