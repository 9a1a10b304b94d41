#include "trainer/cuda/fake/fake_gpu.h"

#include <cstdlib>
#include <fstream>
#include <utility>

#include "gtest/gtest.h"
#include "operator/base/check.h"
#include "trainer/cuda/shared_library.h"

namespace taas::cuda::fake {
namespace {

constexpr char kCublasLt[] = "./trainer/cuda/fake/libcublasLt.so.13";
constexpr char kDriver[] = "./trainer/cuda/fake/libcuda.so.1";
// Of the fake's kernels no image is read.
alignas(16) constexpr char kImage[16] = "tiss";

template <typename T>
T Value(absl::StatusOr<T> made) {
  CHECK(made.ok()) << made.status();
  return *std::move(made);
}

}  // namespace

CudaRuntime::Libraries FakeLibraries(NcclCollective::Options nccl,
                                     CudnnPlans::Options cudnn) {
  static const KernelImage kImages[] = {{"test", std::as_bytes(std::span(kImage))}};
  return {.driver = kDriver,
          .cublaslt = kCublasLt,
          .images = kImages,
          .cudnn = std::move(cudnn),
          .nccl = std::move(nccl)};
}

FakeGpu::FakeGpu(const std::string& machine, int devices, NcclCollective::Options nccl,
                 CudnnPlans::Options cudnn) {
  const std::string path = testing::TempDir() + "/fake_gpu";
  std::ofstream(path) << machine;
  setenv("TAAS_FAKE_CUDA", path.c_str(), /*overwrite=*/1);
  const SharedLibrary library = Value(SharedLibrary::Open(kDriver));
  CHECK(library.Find("FakeCudaFailAt", &fail_at_).ok());
  CHECK(library.Find("FakeCudaCalls", &calls_).ok());
  CHECK(library.Find("FakeCudaWhatIsLeft", &left_).ok());
  gpus_ = Value(CudaRuntime::Open(devices,
                                  FakeLibraries(std::move(nccl), std::move(cudnn))));
}

void FakeGpu::FailAt(const std::string& function, int nth, int result) const {
  fail_at_(function.c_str(), nth, result);
}

int FakeGpu::Calls(const std::string& function) const { return calls_(function.c_str()); }

FakeCudaLeft FakeGpu::left() const { return left_(); }

}  // namespace taas::cuda::fake
