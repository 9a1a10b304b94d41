// NCCL as it is found on a machine, by a library that is not NVIDIA's (fake/).

#include "trainer/cuda/nccl.h"

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"

namespace taas::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<Nccl>> LoadOn(const std::string& machine) {
  const std::string path = testing::TempDir() + "/nccl";
  PosixFileSystem files;
  EXPECT_THAT(files.WriteAtomically(path, machine), IsOk());
  setenv("TAAS_FAKE_CUDA", path.c_str(), /*overwrite=*/1);
  return Nccl::Load("./trainer/cuda/fake/libnccl.so.2");
}

TEST(NcclTest, ALibraryThatIsLaterThanTheFirstOneIsTaken) {
  for (const int version : {kNcclVersionMin, 22'809, 23'207}) {
    const auto nccl = LoadOn("nccl " + std::to_string(version) + "\n");
    ASSERT_THAT(nccl, IsOk());
    EXPECT_EQ((*nccl)->version(), version);
  }
}

TEST(NcclTest, OneThatIsTooOldIsToldWithItsVersion) {
  EXPECT_THAT(LoadOn("nccl 21903\n"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("/libnccl.so.2 is NCCL 2.19.3, and this trainer needs "
                                       "2.20.0 or later"))));
}

TEST(NcclTest, AMachineWithoutItIsTold) {
  EXPECT_THAT(Nccl::Load("./none/libnccl.so.2"),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("no NCCL here"), HasSubstr("cannot open shared object"),
                             HasSubstr("the image for GPUs has it"))));
}

TEST(NcclTest, AnErrorHasTheLibrarysWordsAndWhatHelps) {
  const auto nccl = LoadOn("");
  ASSERT_THAT(nccl, IsOk());
  EXPECT_THAT((*nccl)->Check("make a rank", kNcclSuccess), IsOk());
  EXPECT_THAT((*nccl)->Check("make a rank", kNcclInProgress), IsOk());
  EXPECT_THAT((*nccl)->Check("make a rank", kNcclSystemError),
              StatusIs(absl::StatusCode::kUnavailable,
                       "NCCL: make a rank: unhandled system error (ncclResult_t 2): no space in "
                       "/dev/shm; in a container /dev/shm is often too small: give the pod an "
                       "emptyDir of medium Memory there, of 1 GiB; between pods each must reach "
                       "all ports of the others, and NCCL_SOCKET_IFNAME, where it is set, name an "
                       "interface that they have; NCCL_DEBUG=INFO in the environment makes NCCL "
                       "say more"));
  EXPECT_THAT((*nccl)->Check("average", kNcclInvalidUsage),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("NCCL_DEBUG=INFO")));
}

}  // namespace
}  // namespace taas::cuda
