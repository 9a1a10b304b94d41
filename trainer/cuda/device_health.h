// Whether a device's memory is sound, by what NVML has counted: before somebody computes on it,
// and in the sentence of whoever could not.
//
// NVML is asked in a thread of its own, and not waited for longer than kHealthPatience: a machine
// whose NVML is missing or hangs is not refused for that.
//
// Ownership: none. Threads: any. Errors: of CheckHealth the machine's fault (machine_fault.h),
// DataLoss, with the device and what is to be done; of AskHealth those of nvml_reader.h.
//
//   const auto health = AskHealth(info.id);
//   if (health.ok()) RETURN_IF_ERROR(CheckHealth(info, *health));

#ifndef TRAINER_CUDA_DEVICE_HEALTH_H_
#define TRAINER_CUDA_DEVICE_HEALTH_H_

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/nvml.h"
#include "trainer/cuda/driver.h"

namespace taas::cuda {

// What the look may add to the start of a training. NVML answers in tens of milliseconds where the
// driver is loaded, as it is when somebody computes.
inline constexpr std::chrono::milliseconds kHealthPatience{300};

absl::StatusOr<GpuHealth> AskHealth(const std::string& id,
                                    const std::string& library = Nvml::kLibrary,
                                    std::chrono::milliseconds patience = kHealthPatience);

// An error for memory that has had errors which could not be corrected since the driver was loaded
// or the device reset, that waits for a reset to have bad rows or pages replaced, or cannot have
// them replaced any more. What is not known is no fault.
absl::Status CheckHealth(const DeviceInfo& info, const GpuHealth& health);

// Asks and checks; OK where NVML does not tell, which is logged.
absl::Status CheckHealth(const DeviceInfo& info, const std::string& library = Nvml::kLibrary);

// "ECC errors since its reset: 2 uncorrected, 7 corrected; in its life: 3 uncorrected, 9
// corrected; 3 rows replaced". Nothing where nothing is known.
std::string TextOf(const GpuHealth& health);

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_DEVICE_HEALTH_H_
