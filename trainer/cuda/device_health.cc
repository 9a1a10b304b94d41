#include "trainer/cuda/device_health.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "operator/base/log.h"
#include "operator/base/nvml_reader.h"
#include "trainer/graph/machine_fault.h"

namespace taas::cuda {
namespace {

std::string Errors(int64_t count) {
  return std::to_string(count) + (count == 1 ? " error" : " errors");
}

// What is wrong; nothing: nothing that is known.
std::vector<std::string> FaultsOf(const GpuHealth& health) {
  std::vector<std::string> faults;
  if (health.uncorrected.value_or(0) > 0) {
    faults.push_back("its memory has had " + Errors(*health.uncorrected) +
                     " that ECC could not correct since it was reset");
  }
  if (health.remap_failed.value_or(false)) {
    faults.push_back("it has no spare row of memory left for one that is bad");
  }
  if (health.remap_pending.value_or(false)) {
    faults.push_back("bad rows of its memory are to be replaced when it is reset");
  }
  if (health.retirement_pending.value_or(false)) {
    faults.push_back("bad pages of its memory are to be retired when it is reset");
  }
  return faults;
}

// "ECC errors since its reset: 2 uncorrected, 7 corrected"; nothing where neither is known.
void AddErrors(const char* when, const std::optional<int64_t>& uncorrected,
               const std::optional<int64_t>& corrected, std::vector<std::string>* parts) {
  std::vector<std::string> counts;
  if (uncorrected) counts.push_back(std::to_string(*uncorrected) + " uncorrected");
  if (corrected) counts.push_back(std::to_string(*corrected) + " corrected");
  if (!counts.empty()) parts->push_back(when + absl::StrJoin(counts, ", "));
}

}  // namespace

absl::StatusOr<GpuHealth> AskHealth(const std::string& id, const std::string& library,
                                    std::chrono::milliseconds patience) {
  NvmlReader nvml(library);
  return nvml.Ask<GpuHealth>(patience, [id](const Nvml& it) { return it.Health(id); });
}

absl::Status CheckHealth(const DeviceInfo& info, const GpuHealth& health) {
  const std::vector<std::string> faults = FaultsOf(health);
  if (faults.empty()) return absl::OkStatus();
  // A part of a GPU is reset with the whole.
  const bool failed = health.remap_failed.value_or(false);
  const std::string help =
      failed ? "have the card replaced"
             : "reset it when nobody computes on it (nvidia-smi --gpu-reset -i " + info.id +
                   ") or start the machine anew, and have it replaced if that comes again";
  return MachineFault(absl::DataLossError(
      "GPU " + std::to_string(info.index) + " (" + info.name + ", " + info.id +
      ") is not to be computed on: " + absl::StrJoin(faults, ", and ") +
      "; take it out of service, and " + help));
}

absl::Status CheckHealth(const DeviceInfo& info, const std::string& library) {
  const absl::StatusOr<GpuHealth> health = AskHealth(info.id, library);
  if (health.ok()) return CheckHealth(info, *health);
  const bool hangs = absl::IsDeadlineExceeded(health.status());
  Log(hangs ? LogLevel::kWarning : LogLevel::kDebug, "whether a GPU's memory is sound is not known",
      {{"device", info.id}, {"error", health.status().ToString()}});
  return absl::OkStatus();
}

std::string TextOf(const GpuHealth& health) {
  std::vector<std::string> parts;
  AddErrors("ECC errors since its reset: ", health.uncorrected, health.corrected, &parts);
  AddErrors("in its life: ", health.uncorrected_ever, health.corrected_ever, &parts);
  if (health.remapped_rows.value_or(0) > 0) {
    parts.push_back(std::to_string(*health.remapped_rows) + " rows replaced");
  }
  for (std::string& fault : FaultsOf(health)) {
    if (!fault.starts_with("its memory has had")) parts.push_back(std::move(fault));
  }
  if (health.ecc == false) parts.emplace_back("ECC is off");
  return absl::StrJoin(parts, "; ");
}

}  // namespace taas::cuda
