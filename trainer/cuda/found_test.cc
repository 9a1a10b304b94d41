// What a machine has, by a driver and libraries that are not NVIDIA's (fake/).

#include "trainer/cuda/found.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kFakes[] = "./trainer/cuda/fake/";
constexpr char kH100[] = "device 9 0 85899345920 132 1 NVIDIA H100 80GB HBM3\n";

class FoundTest : public testing::Test {
 protected:
  // On a machine whose driver is as the lines say.
  static Found On(const std::string& lines) {
    const std::string path = testing::TempDir() + "/cuda";
    PosixFileSystem files;
    EXPECT_THAT(files.WriteAtomically(path, lines), IsOk());
    setenv("TAAS_FAKE_CUDA", path.c_str(), /*overwrite=*/1);
    return Find({.driver = std::string(kFakes) + "libcuda.so.1", .prefix = kFakes});
  }
  static std::string DriverOn(const std::string& lines) {
    return std::string(On(lines).driver.status.message());
  }
};

TEST_F(FoundTest, DriverDevicesAndLibrariesHaveTheirVersions) {
  const Found found = On("version 13020\n" + std::string(kH100) +
                         "device 8 0 42949672960 108 0 NVIDIA A100 MIG 3g.20gb\n");
  EXPECT_THAT(found.driver.status, IsOk());
  EXPECT_EQ(found.driver.release, "13.2");
  EXPECT_THAT(found.driver.path, HasSubstr("/libcuda.so.1"));
  ASSERT_EQ(found.devices.size(), 2u);
  EXPECT_EQ(found.devices[0].id, "GPU-a0a0a0a0-a0a0-a0a0-a0a0-a0a0a0a0a0a0");
  EXPECT_THAT(found.devices[1].id, StartsWith("MIG-a1a1a1a1-"));
  EXPECT_EQ(found.usable(), 2);
  EXPECT_THAT(TextOf(found),
              AllOf(HasSubstr("\ndevice 0  NVIDIA H100 80GB HBM3  9.0  80.0 GiB  132 "
                              "multiprocessors  ECC  GPU-a0a0"),
                    HasSubstr("\ndevice 1  NVIDIA A100 MIG 3g.20gb  8.0  40.0 GiB  108 "
                              "multiprocessors  MIG-a1a1"),
                    HasSubstr("\ncuBLASLt  13.1.3  "), HasSubstr("\ncuDNN     9.28.1  "),
                    HasSubstr("\nNCCL      2.28.9  ")));
  const auto json = nlohmann::json::parse(JsonOf(found));
  EXPECT_EQ(json["driver"]["cuda"], "13.2");
  EXPECT_EQ(json["devices"][0]["memoryBytes"], 85'899'345'920);
  EXPECT_EQ(json["devices"][1]["computeCapability"], "8.0");
  EXPECT_EQ(json["libraries"][2]["version"], "2.28.9");
  EXPECT_EQ(json["usable"], 2);
}

TEST_F(FoundTest, AMachineWithoutAnyOfItIsToldSo) {
  const Found found = Find({.driver = "./none/libcuda.so.1", .prefix = "./none/"});
  EXPECT_THAT(found.driver.status,
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(StartsWith("no NVIDIA driver here: "), HasSubstr("No such file"))));
  EXPECT_THAT(found.devices, IsEmpty());
  for (const FoundLibrary& library : found.libraries) {
    EXPECT_THAT(library.missing, HasSubstr("cannot open shared object file"));
  }
  const auto json = nlohmann::json::parse(JsonOf(found));
  EXPECT_THAT(json["driver"]["missing"].get<std::string>(), HasSubstr("no NVIDIA driver here"));
  EXPECT_EQ(json["usable"], 0);
}

TEST_F(FoundTest, ALibraryOfAnotherMajorVersionIsNamed) {
  const std::string folder = testing::TempDir() + "/of_another_version/";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(std::string(kFakes) + "libcudnn.so.8", folder + "libcudnn.so.8",
                             std::filesystem::copy_options::overwrite_existing);
  const Found found = Find({.driver = "./none/libcuda.so.1", .prefix = folder});
  EXPECT_EQ(found.libraries[1].name, "cuDNN");
  EXPECT_THAT(found.libraries[1].missing,
              AllOf(HasSubstr("libcudnn.so.9"),
                    HasSubstr("; libcudnn.so.8 is here, of another major version")));
}

// NVIDIA's ends the process when it is asked for its version then.
TEST_F(FoundTest, ACudnnThatIsNotWholeIsNotAsked) {
  const std::string folder = testing::TempDir() + "/not_whole/";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(std::string(kFakes) + "libcudnn.so.9", folder + "libcudnn.so.9",
                             std::filesystem::copy_options::overwrite_existing);
  const Found found = Find({.driver = "./none/libcuda.so.1", .prefix = folder});
  EXPECT_THAT(found.libraries[1].missing,
              AllOf(HasSubstr("not_whole/libcudnn.so.9 needs another of cuDNN's libraries: "
                              "libcudnn_graph.so.9: cannot open shared object file"),
                    HasSubstr("install all of one release")));
}

TEST_F(FoundTest, ACudnnThatIsTooOldIsNamedWithTheOneThatIsNeeded) {
  EXPECT_THAT(TextOf(On("cudnn 90501\n" + std::string(kH100))),
              HasSubstr("\ncuDNN     version 9.5.1, and this trainer needs 9.6.0 or later\n"));
}

TEST_F(FoundTest, ADriverThatDoesNotWorkSaysWhyAndWhatToDo) {
  EXPECT_THAT(DriverOn("version 12040\n"),
              AllOf(HasSubstr("the NVIDIA driver knows CUDA 12.4, and this trainer needs 13.0"),
                    HasSubstr("install a driver of release 580 or later")));
  EXPECT_THAT(DriverOn("init 100\n"),
              AllOf(HasSubstr("NVIDIA driver: start: CUDA_ERROR_NO_DEVICE (no CUDA-capable"),
                    HasSubstr("CUDA_VISIBLE_DEVICES hides them")));
  EXPECT_THAT(DriverOn("init 803\n"), AllOf(HasSubstr("start: error 803"),
                                            HasSubstr("of different releases")));
  EXPECT_THAT(DriverOn("init 304\n"), HasSubstr("/dev/nvidia* cannot be opened"));
}

TEST_F(FoundTest, ADeviceThatDoesNotAnswerIsNoSilentLoss) {
  const Found found = On("device lost\n" + std::string(kH100));
  EXPECT_EQ(found.usable(), 1);
  EXPECT_THAT(TextOf(found),
              HasSubstr("\ndevice 0  not usable: NVIDIA driver: ask for the name of device 0: "
                        "CUDA_ERROR_UNKNOWN"));
  EXPECT_THAT(found.devices[1].name, StartsWith("NVIDIA H100"));
}

TEST_F(FoundTest, ADeviceOfAnEarlierGenerationIsNotUsable) {
  const Found found = On("device 7 5 16106127360 40 1 Tesla T4\n" + std::string(kH100));
  EXPECT_EQ(found.usable(), 1);
  EXPECT_THAT(TextOf(found), HasSubstr("not usable: compute capability 7.5, and the kernels are "
                                       "compiled for 8.0 and later"));
}

TEST(SharedLibraryTest, AFunctionThatIsMissingIsNamed) {
  const auto library = SharedLibrary::Open(std::string(kFakes) + "libnccl.so.2");
  ASSERT_THAT(library, IsOk());
  int (*function)() = nullptr;
  EXPECT_THAT(library->Find("ncclCommGrow", &function),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr("libnccl.so.2 has no function ncclCommGrow"))));
}

}  // namespace
}  // namespace taas::cuda
