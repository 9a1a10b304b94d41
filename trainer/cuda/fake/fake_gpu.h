// GPUs for tests: the driver that stands for NVIDIA's (libcuda.so.1 of this folder), and the
// engine's devices on it. A test that has one needs //trainer/cuda/fake in its `data`.
//
// Ownership: owns the CudaRuntime. Threads: as those. Errors: end the test's program.
//
//   FakeGpu gpu;
//   auto task = ModelTask::Make(gpu.runtime(), files, config);

#ifndef TRAINER_CUDA_FAKE_FAKE_GPU_H_
#define TRAINER_CUDA_FAKE_FAKE_GPU_H_

#include <memory>
#include <string>

#include "trainer/cuda/cudnn_plans.h"
#include "trainer/cuda/cuda_runtime.h"
#include "trainer/cuda/fake/fake_control.h"
#include "trainer/cuda/nccl_collective.h"
#include "trainer/graph/runtime.h"

namespace taas::cuda::fake {

inline constexpr char kNccl[] = "./trainer/cuda/fake/libnccl.so.2";
inline constexpr char kCudnn[] = "./trainer/cuda/fake/libcudnn.so.9";
inline constexpr char kNoCudnn[] = "./none/libcudnn.so.9";
// Those of this folder; of the kernels no image is read.
CudaRuntime::Libraries FakeLibraries(NcclCollective::Options nccl = {.library = kNccl},
                                     CudnnPlans::Options cudnn = {.library = kCudnn});

inline constexpr char kH100[] = "device 9 0 85899345920 132 1 NVIDIA H100 80GB HBM3\n";

class FakeGpu {
 public:
  // `machine`: what fake_machine.h reads. Computes on the first `devices` of it.
  explicit FakeGpu(const std::string& machine = kH100, int devices = 1,
                   NcclCollective::Options nccl = {.library = kNccl},
                   CudnnPlans::Options cudnn = {.library = kCudnn});
  FakeGpu(const FakeGpu&) = delete;
  FakeGpu& operator=(const FakeGpu&) = delete;

  const Driver& driver() const { return gpus_->driver(); }
  const LoadedKernels& kernels() const { return gpus_->kernels(); }
  CudaDevice& device(int index = 0) const { return gpus_->device(index); }
  Runtime runtime() const { return gpus_->runtime(); }

  // No device any more; what computes on them has gone.
  void Close() { gpus_.reset(); }

  // See fake_control.h.
  void FailAt(const std::string& function, int nth, int result) const;
  int Calls(const std::string& function) const;
  // Of this process; a FakeGpu itself has a library, and a context for each device.
  FakeCudaLeft left() const;

 private:
  std::unique_ptr<CudaRuntime> gpus_;
  decltype(&FakeCudaFailAt) fail_at_ = nullptr;
  decltype(&FakeCudaCalls) calls_ = nullptr;
  decltype(&FakeCudaWhatIsLeft) left_ = nullptr;
};

}  // namespace taas::cuda::fake

#endif  // TRAINER_CUDA_FAKE_FAKE_GPU_H_
