// An NVIDIA GPU as the engine's device: memory, streams, events and programs, which are CUDA
// graphs, by the driver.
//
// It computes in the device's primary context, which cuBLASLt and NCCL use, too. A program holds
// the addresses and numbers of its capture, as the driver does.
//
// Ownership: borrows driver and kernels, which outlive it, as it outlives all that it makes.
// Threads: as device.h; each call makes the context that of the calling thread. Errors: as
// device.h, and Unavailable, from the call at which it shows, once the device is lost or a kernel
// has failed: nothing of it can be used any more then.
//
//   ASSIGN_OR_RETURN(const auto device, CudaDevice::Open(*driver, *kernels, /*index=*/0));

#ifndef TRAINER_CUDA_CUDA_DEVICE_H_
#define TRAINER_CUDA_CUDA_DEVICE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/cuda/cublaslt.h"
#include "trainer/cuda/cudnn_plans.h"
#include "trainer/cuda/driver.h"
#include "trainer/cuda/loaded_kernels.h"
#include "trainer/graph/device.h"
#include "trainer/kernels/cuda/convolution.h"
#include "trainer/kernels/cuda/fused_attention.h"
#include "trainer/kernels/cuda/gpu_device.h"

namespace taas::cuda {

class CudaStream;

class CudaDevice : public GpuDevice {
 public:
  // FailedPrecondition for a device that it cannot compute on, NotFound without cuBLASLt.
  static absl::StatusOr<std::unique_ptr<CudaDevice>> Open(
      const Driver& driver, const LoadedKernels& kernels, int index,
      const std::string& cublaslt = CublasLt::kLibrary, CudnnPlans::Options cudnn = {});
  // FailedPrecondition with the reason why not.
  static absl::Status CheckUsable(const DeviceInfo& info);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const DeviceInfo& info() const { return info_; }

  std::string_view type() const override;
  std::string name() const override { return info_.name; }
  // What the driver's allocator gives.
  size_t alignment() const override { return 256; }
  bool host_sees_memory() const override { return false; }
  bool prefers_programs() const override { return true; }
  std::optional<MemoryLevel> memory_level() const override;
  absl::StatusOr<Buffer> Allocate(size_t bytes, MemoryKind kind) override;
  std::unique_ptr<Stream> MakeStream() override;
  std::unique_ptr<Event> MakeEvent() override;
  std::unique_ptr<TimedEvent> MakeTimedEvent() override;
  absl::Status Copy(void* to, const void* from, size_t bytes) override;
  const ConvPlan* PlanConvolution(const ConvShape& shape) override;
  const AttentionPlan* PlanAttention(const AttentionShape& shape) override;
  bool CanMultiply(const Product& product) override;

  // That nobody has now, on this device.
  absl::StatusOr<int64_t> FreeBytes() const;

  const Driver& driver() const { return driver_; }
  const LoadedKernels& kernels() const { return kernels_; }
  CublasLt& products() const { return *products_; }
  CudnnPlans& cudnn() const { return *cudnn_; }
  // Before the calling thread calls what needs a context.
  absl::Status Enter() const;

 private:
  CudaDevice(const Driver& driver, const LoadedKernels& kernels, DeviceInfo info);
  absl::Status Start(const std::string& cublaslt, CudnnPlans::Options cudnn);
  absl::Status NoMemory(size_t bytes, absl::Status status) const;
  // Calls `work` with a stream that nobody else uses meanwhile, and waits for it. Streams are kept:
  // some calls of each step need one, and to make one takes longer than what they do.
  absl::Status InStream(absl::FunctionRef<absl::Status(CudaStream& stream)> work);

  const Driver& driver_;
  const LoadedKernels& kernels_;
  const DeviceInfo info_;
  CuContext context_ = nullptr;
  size_t free_at_start_ = 0;  // Bytes, when there was the context and no more.
  std::unique_ptr<CublasLt> products_;
  std::unique_ptr<CudnnPlans> cudnn_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CudaStream>> idle_streams_;
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_CUDA_DEVICE_H_
