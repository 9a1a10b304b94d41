// The GPUs of this process, and what computes on them: the driver, this program's kernels, devices
// and cuBLASLt; cuDNN, where it is; NCCL, if they are several; a Runtime of them for sessions.
//
// Ownership: owns all of it, and outlives the sessions that use it. Threads: as device.h. Errors:
// of driver.h, cublaslt.h, loaded_kernels.h and nccl_collective.h, with what was wanted ("2 GPUs
// are wanted: …"); they are the machine's fault (machine_fault.h).
//
//   ASSIGN_OR_RETURN(const auto gpus, CudaRuntime::Open(/*count=*/1));
//   ASSIGN_OR_RETURN(auto task, ModelTask::Make(gpus->runtime(), files, config));

#ifndef TRAINER_CUDA_CUDA_RUNTIME_H_
#define TRAINER_CUDA_CUDA_RUNTIME_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/nvml.h"
#include "trainer/cuda/cuda_device.h"
#include "trainer/cuda/driver.h"
#include "trainer/cuda/loaded_kernels.h"
#include "trainer/cuda/nccl_collective.h"
#include "trainer/graph/runtime.h"
#include "trainer/kernels/cuda/images.h"

namespace taas::cuda {

class CudaRuntime {
 public:
  // By the loader's rules; with slashes, files.
  struct Libraries {
    std::string driver = Driver::kLibrary, cublaslt = CublasLt::kLibrary;
    std::string nvml = Nvml::kLibrary;  // Where it is.
    std::span<const KernelImage> images = KernelImages();
    CudnnPlans::Options cudnn{};
    NcclCollective::Options nccl{};
  };

  // The first `count` devices that this process sees, at least one; each has sound memory, as far
  // as is known (device_health.h), and has shown that it computes right (device_check.h).
  static absl::StatusOr<std::unique_ptr<CudaRuntime>> Open(int count, const Libraries& libraries);
  static absl::StatusOr<std::unique_ptr<CudaRuntime>> Open(int count) {
    return Open(count, Libraries());
  }

  Runtime runtime() const;
  const Driver& driver() const { return *driver_; }
  const LoadedKernels& kernels() const { return *kernels_; }
  // Their ids, "GPU-…" or "MIG-…", in the order of the devices.
  std::vector<std::string> ids() const;
  // Of an error that is the machine's fault: with what NVML has counted of the devices' memory, as
  // far as it tells within kHealthPatience.
  absl::Status Explain(absl::Status status) const;
  CudaDevice& device(int index) const { return *devices_[static_cast<size_t>(index)]; }

 private:
  absl::Status Start(int count, const Libraries& libraries);

  std::string nvml_;
  // In the order in which they are made.
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<LoadedKernels> kernels_;
  std::vector<std::unique_ptr<CudaDevice>> devices_;
  std::unique_ptr<NcclCollective> collective_;  // Null of one device.
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_CUDA_RUNTIME_H_
