// Streams, events and programs of a CudaDevice.
//
// Ownership: borrow the device. Threads: as device.h. Errors: as CudaDevice. One that could not be
// made says why at its first use.

#ifndef TRAINER_CUDA_CUDA_STREAM_H_
#define TRAINER_CUDA_CUDA_STREAM_H_

#include <chrono>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/cuda/cuda_device.h"
#include "trainer/kernels/cuda/launch.h"

namespace taas::cuda {

class CudaEvent : public TimedEvent {
 public:
  // One that is not `timed` is cheaper, and Since fails.
  CudaEvent(const CudaDevice& device, bool timed);
  ~CudaEvent() override;
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  absl::Status Synchronize() override;
  absl::StatusOr<std::chrono::nanoseconds> Since(const TimedEvent& earlier) const override;
  // Without waiting for it.
  absl::StatusOr<bool> HasPassed() const;
  // The driver's, of a thread that has entered the device.
  absl::StatusOr<CuEvent> handle() const;

 private:
  const CudaDevice& device_;
  absl::Status made_;
  CuEvent event_ = nullptr;
};

class CudaStream : public GpuStream {
 public:
  explicit CudaStream(const CudaDevice& device);
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  absl::Status LaunchFunction(int kernel, const Grid& grid, const void* params) override;
  absl::Status Zero(void* memory, size_t bytes) override;
  absl::Status Multiply(const Product& product) override;
  absl::Status Convolve(const ConvPlan& plan, const ConvTensors& tensors) override;
  absl::Status Attend(const AttentionPlan& plan, const AttentionTensors& tensors) override;

  absl::Status Launch(const Kernel& kernel, const KernelCall& call) override;
  absl::Status Copy(void* to, const void* from, size_t bytes) override;
  absl::Status Record(Event& event) override;
  absl::Status Wait(Event& event) override;
  absl::StatusOr<std::unique_ptr<Program>> Capture(
      absl::FunctionRef<absl::Status()> work) override;
  absl::Status Synchronize() override;

  CuStream handle() const { return stream_; }
  // Makes the device's context the thread's; what was wrong when the stream was made.
  absl::Status Enter() const;

 private:
  absl::StatusOr<CuGraph> CaptureGraph(absl::FunctionRef<absl::Status()> work);

  const CudaDevice& device_;
  const Driver& driver_;
  absl::Status made_;
  CuStream stream_ = nullptr;
  bool capturing_ = false;
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_CUDA_STREAM_H_
