// The GPUs of this machine and how busy they are, from NVIDIA's management library (NVML).
//
// The library belongs to the driver and is loaded at run time, so no build needs it. Functions and
// structs are those of NVML's API reference that have stood since version 2 of their names; they
// are declared here, since its header comes with CUDA only.
//
// What a device does not tell (a MIG device has no utilization) is left out; a device that does not
// answer at all (it has fallen off the bus) is no device.
//
// Ownership: the library stays loaded for the life of the process, as its documentation wants of
// programs with threads. Threads: any; calls may block for as long as the driver does. Errors:
// NotFound without a library, Unavailable with NVML's own words otherwise.
//
//   ASSIGN_OR_RETURN(const std::unique_ptr<Nvml> nvml, Nvml::Load());
//   ASSIGN_OR_RETURN(const std::vector<GpuReading> gpus, nvml->Read());

#ifndef OPERATOR_BASE_NVML_H_
#define OPERATOR_BASE_NVML_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace taas {

struct GpuReading {
  std::string id;    // "GPU-3d1e…", as device plugins name devices.
  int index = 0;     // Among those that this process sees.
  std::string name;  // "NVIDIA H100 80GB HBM3"
  // The share of the last second or less in which a kernel ran: 0 … 1.
  std::optional<double> utilization;
  std::optional<int64_t> memory_used_mib, memory_total_mib;

  bool operator==(const GpuReading&) const = default;
};

class Nvml {
 public:
  static constexpr char kLibrary[] = "libnvidia-ml.so.1";

  static absl::StatusOr<std::unique_ptr<Nvml>> Load(const char* library = kLibrary);
  ~Nvml();

  absl::StatusOr<std::vector<GpuReading>> Read() const;

 private:
  struct Functions;
  explicit Nvml(std::unique_ptr<Functions> functions);
  std::unique_ptr<Functions> functions_;
};

}  // namespace taas

#endif  // OPERATOR_BASE_NVML_H_
