// cuDNN as it is found on a machine, and its descriptors, by a library that is not NVIDIA's
// (fake/).

#include "trainer/cuda/cudnn.h"

#include <array>
#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/fake/fake_gpu.h"

namespace taas::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Code = absl::StatusCode;

class CudnnTest : public testing::Test {
 protected:
  // On a GPU whose machine has such lines besides.
  static absl::StatusOr<std::unique_ptr<Cudnn>> LoadOn(fake::FakeGpu& gpu) {
    EXPECT_THAT(gpu.device().Enter(), IsOk());
    return Cudnn::Load(fake::kCudnn);
  }
  fake::FakeGpu gpu_;
};

TEST_F(CudnnTest, ALibraryThatIsLaterThanTheFirstOneIsTakenWithAHandle) {
  for (const int version : {kCudnnVersionMin, 92'801, 99'900}) {
    fake::FakeGpu gpu(std::string(fake::kH100) + "cudnn " + std::to_string(version) + "\n");
    {
      const auto cudnn = LoadOn(gpu);
      ASSERT_THAT(cudnn, IsOk());
      EXPECT_EQ((*cudnn)->version(), version);
      EXPECT_EQ(gpu.left().handles, 1u);
    }
    EXPECT_EQ(gpu.left().handles, 0u);
  }
}

TEST_F(CudnnTest, OneThatIsTooOldIsToldWithItsVersion) {
  fake::FakeGpu gpu(std::string(fake::kH100) + "cudnn 90501\n");
  EXPECT_THAT(LoadOn(gpu),
              StatusIs(Code::kFailedPrecondition,
                       HasSubstr("/libcudnn.so.9 is cuDNN 9.5.1, and this trainer needs 9.6.0 or "
                                 "later: install a later one")));
}

TEST_F(CudnnTest, AMachineWithoutItIsTold) {
  EXPECT_THAT(Cudnn::Load("./none/libcudnn.so.9"),
              StatusIs(Code::kNotFound,
                       AllOf(StartsWith("no cuDNN here: "), HasSubstr("cannot open shared object"),
                             HasSubstr("the image for GPUs has it"))));
}

// NVIDIA's ends the process at its first call then.
TEST_F(CudnnTest, OneThatIsNotWholeIsNotCalled) {
  const std::string folder = testing::TempDir() + "/not_whole";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(fake::kCudnn, folder + "/libcudnn.so.9",
                             std::filesystem::copy_options::overwrite_existing);
  gpu_.FailAt("cudnnCreate", 0, 0);
  EXPECT_THAT(Cudnn::Load(folder + "/libcudnn.so.9"),
              StatusIs(Code::kFailedPrecondition,
                       AllOf(HasSubstr("/libcudnn.so.9 needs another of cuDNN's libraries: "
                                       "libcudnn_graph.so.9: cannot open shared object file"),
                             HasSubstr("install all of one release"))));
  EXPECT_EQ(gpu_.Calls("cudnnCreate"), 0);
}

TEST_F(CudnnTest, AnErrorHasTheLibrarysWordsAndWhatHelps) {
  gpu_.FailAt("cudnnCreate", 1, kCudnnLoadingFailed);
  EXPECT_THAT(LoadOn(gpu_),
              StatusIs(Code::kFailedPrecondition,
                       "cuDNN 9.28.1: start: CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED "
                       "(cudnnStatus_t 1008): as a test wants it; all libcudnn_*.so.9 of one "
                       "release must lie where the loader looks, and NVRTC and cuBLAS of the CUDA "
                       "release that they are for"));
  const auto cudnn = LoadOn(gpu_);
  ASSERT_THAT(cudnn, IsOk());
  EXPECT_THAT((*cudnn)->Check("convolve", kCudnnSuccess), IsOk());
  EXPECT_THAT((*cudnn)->Check("convolve", kCudnnUnsupportedShape), StatusIs(Code::kUnimplemented));
  EXPECT_THAT((*cudnn)->Check("convolve", kCudnnDeviceAllocationFailed),
              StatusIs(Code::kResourceExhausted, HasSubstr("a smaller batchSize")));
  EXPECT_THAT((*cudnn)->Check("convolve", kCudnnExecutionFailed),
              StatusIs(Code::kUnavailable, HasSubstr("CUDNN_LOGLEVEL_DBG=2")));
}

TEST_F(CudnnTest, ADescriptorNamesWhatItCouldNotDo) {
  const auto cudnn = LoadOn(gpu_);
  ASSERT_THAT(cudnn, IsOk());
  CudnnDescriptor tensor(**cudnn, CudnnType::kTensor);
  EXPECT_THAT(tensor.SetInts(CudnnAttribute::kTensorDimensions, std::array<int64_t, 3>{1, 2, 3}),
              StatusIs(Code::kUnavailable,
                       HasSubstr("set attribute 902 of a tensor: CUDNN_STATUS_OF_ANOTHER_KIND")));
  EXPECT_THAT(tensor.Finalize(),
              StatusIs(Code::kUnavailable, AllOf(HasSubstr("finalize a tensor"),
                                                 HasSubstr("without attribute 900"))));
  EXPECT_THAT(tensor.GetInt(CudnnAttribute::kTensorId),
              StatusIs(Code::kUnavailable, HasSubstr("ask for attribute 906 of a tensor")));
}

TEST_F(CudnnTest, ADescriptorThatCouldNotBeMadeSaysSoAtItsFirstUse) {
  const auto cudnn = LoadOn(gpu_);
  ASSERT_THAT(cudnn, IsOk());
  gpu_.FailAt("cudnnBackendCreateDescriptor", 1, kCudnnInternal);
  CudnnDescriptor tensor(**cudnn, CudnnType::kTensor);
  for (const absl::Status& status :
       {tensor.SetInt(CudnnAttribute::kTensorId, 1), tensor.Finalize(),
        tensor.GetInt(CudnnAttribute::kTensorId).status()}) {
    EXPECT_THAT(status, StatusIs(Code::kUnavailable, HasSubstr("make a tensor")));
  }
  EXPECT_EQ(gpu_.left().descriptors, 0u);
}

TEST_F(CudnnTest, ADescriptorThatIsMovedIsDestroyedOnce) {
  const auto cudnn = LoadOn(gpu_);
  ASSERT_THAT(cudnn, IsOk());
  {
    CudnnDescriptor one(**cudnn, CudnnType::kTensor);
    const CudnnDescriptor other(std::move(one));
    EXPECT_EQ(gpu_.left().descriptors, 1u);
  }
  EXPECT_EQ(gpu_.left().descriptors, 0u);
}

}  // namespace
}  // namespace taas::cuda
