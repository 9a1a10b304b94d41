// The GPUs of this machine, how busy and how well they are, from NVIDIA's management library, NVML.
//
// The library belongs to the driver and is loaded at run time, so no build needs it. Functions and
// structs are those of NVML's API reference that have stood since version 2 of their names; they
// are declared here, since its header comes with CUDA only.
//
// What a device does not tell (a part of a GPU, MIG, has no utilization), or the library has no
// function for, is left out and never 0; a device that does not answer at all (it has fallen off
// the bus) is no device.
//
// Ownership: the library stays loaded for the life of the process, as its documentation wants of
// programs with threads. Threads: any; calls may block for as long as the driver does, which
// nvml_reader.h bounds. Errors: NotFound without a library or a device of the id, Unavailable with
// NVML's own words otherwise.
//
//   ASSIGN_OR_RETURN(const std::unique_ptr<Nvml> nvml, Nvml::Load());
//   ASSIGN_OR_RETURN(const std::vector<GpuReading> gpus, nvml->Read());
//   ASSIGN_OR_RETURN(const GpuHealth health, nvml->Health(gpus[0].id));

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
  // What it draws, and the most that it may.
  std::optional<double> power_watts, power_limit_watts;
  std::optional<int> temperature_c;
  // Why its clocks are lower than its work could use: words of ThrottleWords. Empty: they are not.
  std::optional<std::vector<std::string>> throttle;
  // Memory errors that ECC could not correct, since the driver was loaded or it was reset.
  std::optional<int64_t> ecc_uncorrected;

  bool operator==(const GpuReading&) const = default;
};

// Of NVML's bits of clock event reasons those that slow work down: PowerCap, HardwareSlowdown (of
// which it does not say why), SyncBoost, Heat, HardwareHeat, PowerBrake, in the order of the bits.
// That it idles or has a clock set is none.
std::vector<std::string> ThrottleWords(uint64_t reasons);

// What has become of a device's memory.
struct GpuHealth {
  std::optional<bool> ecc;  // Whether it is on.
  // Errors since the driver was loaded or the device was reset, and in its life.
  std::optional<int64_t> corrected, uncorrected, corrected_ever, uncorrected_ever;
  // Rows in whose place spare ones are; whether more are to be at the next reset, or there was none
  // to take.
  std::optional<int64_t> remapped_rows;
  std::optional<bool> remap_pending, remap_failed;
  std::optional<bool> retirement_pending;  // Of pages, in cards that remap no rows.

  bool operator==(const GpuHealth&) const = default;
};

class Nvml {
 public:
  static constexpr char kLibrary[] = "libnvidia-ml.so.1";

  static absl::StatusOr<std::unique_ptr<Nvml>> Load(const char* library = kLibrary);
  ~Nvml();

  // All GPUs, without parts of them.
  absl::StatusOr<std::vector<GpuReading>> Read() const;
  // Of one, or of a part of one ("MIG-…"), by its whole id.
  absl::StatusOr<GpuReading> Read(const std::string& id) const;
  absl::StatusOr<GpuHealth> Health(const std::string& id) const;

 private:
  struct Functions;
  explicit Nvml(std::unique_ptr<Functions> functions);
  std::unique_ptr<Functions> functions_;
};

}  // namespace taas

#endif  // OPERATOR_BASE_NVML_H_
