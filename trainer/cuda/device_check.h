// Whether a device computes right, and how fast: a short look before each training, and a longer
// one for those who doubt a card.
//
// Ownership: none. Threads: one at a time for a device. Errors: what is found wrong is the
// machine's fault (machine_fault.h): DataLoss for wrong numbers, with the device, what was computed
// and the first that differs; the driver's errors.
//
//   RETURN_IF_ERROR(CheckShortly(device));
//   ASSIGN_OR_RETURN(const DeviceCheck check, CheckThoroughly(device));

#ifndef TRAINER_CUDA_DEVICE_CHECK_H_
#define TRAINER_CUDA_DEVICE_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/nvml.h"
#include "trainer/cuda/cuda_device.h"

namespace taas::cuda {

// Copies to it and back, a kernel, and a product in each precision, of numbers that all of them
// multiply and add exactly. Most of its time is what the first product in a process takes.
absl::Status CheckShortly(CudaDevice& device);

struct DeviceCheck {
  double copied_gb_s = 0;  // Within the device, read and written bytes together.
  double to_device_gb_s = 0, from_device_gb_s = 0;  // Pinned memory.
  double float32_tflop_s = 0, tf32_tflop_s = 0, bfloat16_tflop_s = 0;  // Products.
  int64_t memory_bytes = 0;  // That kept two patterns.
  double seconds = 0;
  std::optional<GpuHealth> health;  // What NVML has counted; CheckThoroughly leaves it out.
};

// How much is done; less in tests.
struct CheckSizes {
  int64_t memory_bytes = int64_t{1} << 40;  // At most this, and what is free but for a tenth.
  size_t copy_bytes = size_t{256} << 20;
  int64_t product = 4'096;  // Rows and columns.
  int rounds = 10;
};

// The short check, speeds, and patterns in the memory that is free. A few seconds.
absl::StatusOr<DeviceCheck> CheckThoroughly(CudaDevice& device, const CheckSizes& sizes = {});

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_DEVICE_CHECK_H_
