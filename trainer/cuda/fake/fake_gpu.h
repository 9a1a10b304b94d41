// A GPU for tests: the driver that stands for NVIDIA's (libcuda.so.1 of this folder), and the
// engine's device on it. A test that has one needs //trainer/cuda/fake in its `data`.
//
// Ownership: owns device, kernels and driver. Threads: as those. Errors: end the test's program.
//
//   FakeGpu gpu;
//   auto task = ModelTask::Make(gpu.runtime(), files, config);

#ifndef TRAINER_CUDA_FAKE_FAKE_GPU_H_
#define TRAINER_CUDA_FAKE_FAKE_GPU_H_

#include <memory>
#include <string>

#include "trainer/cuda/cuda_device.h"
#include "trainer/cuda/driver.h"
#include "trainer/cuda/fake/fake_control.h"
#include "trainer/cuda/loaded_kernels.h"
#include "trainer/graph/runtime.h"

namespace taas::cuda::fake {

inline constexpr char kH100[] = "device 9 0 85899345920 132 1 NVIDIA H100 80GB HBM3\n";

class FakeGpu {
 public:
  // `machine`: what fake_cuda.cc reads.
  explicit FakeGpu(const std::string& machine = kH100);
  FakeGpu(const FakeGpu&) = delete;
  FakeGpu& operator=(const FakeGpu&) = delete;

  const Driver& driver() const { return *driver_; }
  const LoadedKernels& kernels() const { return *kernels_; }
  CudaDevice& device() const { return *device_; }
  Runtime runtime() const;

  // See fake_control.h.
  void FailAt(const std::string& function, int nth, int result) const;
  int Calls(const std::string& function) const;
  // Of this process; a FakeGpu itself has one context and one library.
  FakeCudaLeft left() const;

 private:
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<LoadedKernels> kernels_;
  std::unique_ptr<CudaDevice> device_;
  decltype(&FakeCudaFailAt) fail_at_ = nullptr;
  decltype(&FakeCudaCalls) calls_ = nullptr;
  decltype(&FakeCudaWhatIsLeft) left_ = nullptr;
};

}  // namespace taas::cuda::fake

#endif  // TRAINER_CUDA_FAKE_FAKE_GPU_H_
