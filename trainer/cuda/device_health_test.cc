#include "trainer/cuda/device_health.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/cuda_runtime.h"
#include "trainer/cuda/fake/fake_gpu.h"
#include "trainer/graph/machine_fault.h"

namespace taas::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

constexpr char kNvml[] = "./operator/base/libnvidia-ml.so.1";
constexpr char kId[] = "GPU-a0a0a0a0-a0a0-a0a0-a0a0-a0a0a0a0a0a0";
const DeviceInfo kH100{.index = 0, .id = kId, .name = "NVIDIA H100"};

TEST(CheckHealthTest, SoundMemoryPassesAndSoDoesWhatIsNotKnown) {
  EXPECT_THAT(CheckHealth(kH100, GpuHealth()), IsOk()) << "a part of a GPU tells nothing";
  EXPECT_THAT(CheckHealth(kH100, {.ecc = true, .corrected = 900, .uncorrected = 0,
                                  .corrected_ever = 900, .uncorrected_ever = 5,
                                  .remapped_rows = 4, .remap_pending = false,
                                  .remap_failed = false, .retirement_pending = false}),
              IsOk())
      << "what was is over, and what was replaced is sound";
}

struct Case {
  const char* name;
  GpuHealth health;
  const char* fault;
  const char* help;
};

class UnsoundTest : public testing::TestWithParam<Case> {};

TEST_P(UnsoundTest, IsTheMachinesFaultWithTheCardAndWhatToDo) {
  const absl::Status status = CheckHealth(kH100, GetParam().health);
  EXPECT_THAT(status, StatusIs(Code::kDataLoss,
                               AllOf(HasSubstr("GPU 0 (NVIDIA H100, GPU-a0a0a0a0-"),
                                     HasSubstr(GetParam().fault), HasSubstr(GetParam().help))));
  EXPECT_TRUE(IsMachineFault(status));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, UnsoundTest,
    testing::Values(
        Case{"OneError", {.uncorrected = 1},
             "has had 1 error that ECC could not correct since it was reset",
             "nvidia-smi --gpu-reset -i GPU-a0a0"},
        Case{"Errors", {.uncorrected = 2, .remap_pending = true},
             "2 errors that ECC could not correct since it was reset, and bad rows of its memory "
             "are to be replaced when it is reset",
             "start the machine anew"},
        Case{"RemapPending", {.uncorrected = 0, .remap_pending = true}, "bad rows of its memory",
             "--gpu-reset"},
        Case{"RemapFailed", {.remap_failed = true}, "no spare row", "have the card replaced"},
        Case{"Retirement", {.retirement_pending = true}, "bad pages", "--gpu-reset"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(HealthTextTest, SaysWhatIsKnown) {
  EXPECT_EQ(TextOf(GpuHealth()), "");
  EXPECT_EQ(TextOf({.ecc = true, .corrected = 7, .uncorrected = 2, .corrected_ever = 9,
                    .uncorrected_ever = 3, .remapped_rows = 3, .remap_pending = true}),
            "ECC errors since its reset: 2 uncorrected, 7 corrected; in its life: 3 uncorrected, "
            "9 corrected; 3 rows replaced; bad rows of its memory are to be replaced when it is "
            "reset");
  EXPECT_EQ(TextOf({.ecc = false}), "ECC is off");
  EXPECT_EQ(TextOf({.uncorrected = 0, .remapped_rows = 0}),
            "ECC errors since its reset: 0 uncorrected");
}

class HealthOnAMachineTest : public testing::Test {
 protected:
  HealthOnAMachineTest() {
    std::remove(file_.c_str());
    setenv("TAAS_FAKE_NVML", file_.c_str(), /*overwrite=*/1);
  }
  void Nvml(const std::string& more) const {
    std::ofstream(file_ + ".new") << kId << " 1 2 3 " << more << " NVIDIA H100\n";
    ASSERT_EQ(std::rename((file_ + ".new").c_str(), file_.c_str()), 0);
  }
  static absl::Status Open() {
    const std::string machine = testing::TempDir() + "/machine";
    std::ofstream(machine) << fake::kH100;
    setenv("TAAS_FAKE_CUDA", machine.c_str(), /*overwrite=*/1);
    alignas(16) static constexpr char kImage[16] = "tiss";
    const KernelImage image{"test", std::as_bytes(std::span(kImage))};
    return CudaRuntime::Open(1, {.driver = "./trainer/cuda/fake/libcuda.so.1",
                                 .cublaslt = "./trainer/cuda/fake/libcublasLt.so.13",
                                 .nvml = kNvml,
                                 .images = {&image, 1}})
        .status();
  }

  const std::string file_ = testing::TempDir() + "/health";
};

TEST_F(HealthOnAMachineTest, NvmlIsAskedForTheDeviceOfThisId) {
  Nvml("volatile=7,2 remapped=1,2,1,0 retiring=0 ecc=1");
  const auto health = AskHealth(kId, kNvml);
  ASSERT_THAT(health, IsOk());
  EXPECT_EQ(health->uncorrected, 2);
  EXPECT_EQ(health->remap_pending, true);
  EXPECT_THAT(AskHealth("GPU-b", kNvml), StatusIs(Code::kNotFound));
  EXPECT_THAT(AskHealth(kId, "libno-such-library.so.1"), StatusIs(Code::kNotFound));
}

TEST_F(HealthOnAMachineTest, ATrainingBeginsOnSoundMemoryOnly) {
  Nvml("volatile=7,0 aggregate=7,3 remapped=1,2,0,0 retiring=0 ecc=1");
  EXPECT_THAT(Open(), IsOk());
  Nvml("volatile=0,2");
  const absl::Status status = Open();
  EXPECT_THAT(status, StatusIs(Code::kDataLoss,
                               AllOf(HasSubstr("a GPU is wanted: GPU 0 ("), HasSubstr(kId),
                                     HasSubstr("has had 2 errors"))));
  EXPECT_TRUE(IsMachineFault(status));
}

TEST_F(HealthOnAMachineTest, WithoutNvmlOneComputesAllTheSame) {
  EXPECT_THAT(Open(), IsOk()) << "its driver is not loaded";
}

TEST_F(HealthOnAMachineTest, AnNvmlThatHangsHoldsUpTheStartForALittle) {
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);  // Whoever reads it waits for somebody who writes.
  EXPECT_THAT(AskHealth(kId, kNvml, std::chrono::milliseconds(5)),
              StatusIs(Code::kDeadlineExceeded));
  EXPECT_THAT(Open(), IsOk());
  const int fifo = open(file_.c_str(), O_RDWR | O_CLOEXEC);
  Nvml("");
  close(fifo);
}

}  // namespace
}  // namespace taas::cuda
