// NVIDIA's driver, by the functions of its own library, libcuda.so.1, which comes with the driver
// and is loaded while the program runs.
//
// What each function is: driver_api.h.
//
// Ownership: the driver stays loaded for the life of the process. Threads: any. Errors: NotFound
// without a driver, FailedPrecondition for one that is too old, that or Unavailable for one
// that does not work here; all say what to do.
//
//   ASSIGN_OR_RETURN(const std::unique_ptr<Driver> driver, Driver::Load());
//   ASSIGN_OR_RETURN(const std::vector<DeviceInfo> devices, driver->Devices());

#ifndef TRAINER_CUDA_DRIVER_H_
#define TRAINER_CUDA_DRIVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/cuda/driver_api.h"
#include "trainer/cuda/shared_library.h"

namespace taas::cuda {

// As the driver counts: 1000 * major + 10 * minor of the CUDA release.
constexpr int kDriverVersionMin = 13'000;
// The kernels are compiled for these and later ones.
constexpr int kCapabilityMajorMin = 8;
// More than any machine has.
constexpr int kDevicesMax = 1'024;

// "13.0" of 13000.
std::string ReleaseOf(int version);

struct DeviceInfo {
  int index = 0;     // Among those that this process sees.
  std::string id;    // "GPU-3d1e…", as device plugins name devices.
  std::string name;  // "NVIDIA H100 80GB HBM3"
  int major = 0, minor = 0;  // The compute capability.
  int64_t memory_bytes = 0;
  int multiprocessors = 0;
  bool ecc = false;
  std::string trouble;  // Why it does not answer; nothing else is known of it then.

  // Why this trainer cannot compute on it; "" where it can.
  std::string Unusable() const;
};

class Driver {
 public:
  static constexpr char kLibrary[] = "libcuda.so.1";

  static absl::StatusOr<std::unique_ptr<Driver>> Load(const std::string& library = kLibrary);

  int version() const { return version_; }
  const std::string& path() const { return library_.path(); }
  absl::StatusOr<std::vector<DeviceInfo>> Devices() const;
  absl::StatusOr<DeviceInfo> Describe(int index) const;

  const DriverApi& api() const { return api_; }
  // `what` is an infinitive: "count devices". Of memory that there is not ResourceExhausted, of a
  // device that is broken or lost Unavailable, and the machine's fault (machine_fault.h).
  absl::Status Check(std::string_view what, int result) const {
    return result == kCuSuccess ? absl::OkStatus() : ErrorOf(what, result);
  }

 private:
  explicit Driver(SharedLibrary library);
  absl::Status Start();
  absl::Status ErrorOf(std::string_view what, int result) const;

  const SharedLibrary library_;
  DriverApi api_{};
  int version_ = 0;
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_DRIVER_H_
