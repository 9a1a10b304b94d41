#include "operator/base/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <utility>

#include "operator/base/status.h"

namespace taas {
namespace {

using Result = int;
constexpr Result kSuccess = 0;
using Device = void*;

struct Utilization {
  unsigned gpu, memory;  // Percent.
};
struct Memory {
  unsigned long long total, free, used;  // Bytes.
};

// NVML_DEVICE_UUID_V2_BUFFER_SIZE and NVML_DEVICE_NAME_V2_BUFFER_SIZE.
constexpr size_t kTextBytesMax = 96;
// More than any machine has.
constexpr unsigned kDevicesMax = 1'024;
constexpr int64_t kMib = 1024 * 1024;

std::string LoaderError() {
  const char* const text = dlerror();
  return text == nullptr ? "unknown error" : text;
}

}  // namespace

struct Nvml::Functions {
  Result (*init)();
  Result (*shutdown)();
  const char* (*error)(Result);
  Result (*count)(unsigned*);
  Result (*handle)(unsigned, Device*);
  Result (*uuid)(Device, char*, unsigned);
  Result (*name)(Device, char*, unsigned);
  Result (*utilization)(Device, Utilization*);
  Result (*memory)(Device, Memory*);

  absl::Status Find(void* library) {
    const std::pair<const char*, void**> wanted[] = {
        {"nvmlInit_v2", reinterpret_cast<void**>(&init)},
        {"nvmlShutdown", reinterpret_cast<void**>(&shutdown)},
        {"nvmlErrorString", reinterpret_cast<void**>(&error)},
        {"nvmlDeviceGetCount_v2", reinterpret_cast<void**>(&count)},
        {"nvmlDeviceGetHandleByIndex_v2", reinterpret_cast<void**>(&handle)},
        {"nvmlDeviceGetUUID", reinterpret_cast<void**>(&uuid)},
        {"nvmlDeviceGetName", reinterpret_cast<void**>(&name)},
        {"nvmlDeviceGetUtilizationRates", reinterpret_cast<void**>(&utilization)},
        {"nvmlDeviceGetMemoryInfo", reinterpret_cast<void**>(&memory)},
    };
    for (const auto& [symbol, place] : wanted) {
      *place = dlsym(library, symbol);
      if (*place == nullptr) {
        return absl::UnavailableError(std::string("NVML has no ") + symbol + ": " + LoaderError());
      }
    }
    return absl::OkStatus();
  }

  absl::Status Check(const char* what, Result result) const {
    if (result == kSuccess) return absl::OkStatus();
    return absl::UnavailableError(std::string("NVML: ") + what + ": " + error(result));
  }
};

Nvml::Nvml(std::unique_ptr<Functions> functions) : functions_(std::move(functions)) {}

Nvml::~Nvml() { functions_->shutdown(); }

absl::StatusOr<std::unique_ptr<Nvml>> Nvml::Load(const char* library) {
  void* const loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) return absl::NotFoundError(LoaderError());
  auto functions = std::make_unique<Functions>();
  RETURN_IF_ERROR(functions->Find(loaded));
  RETURN_IF_ERROR(functions->Check("start", functions->init()));
  return std::unique_ptr<Nvml>(new Nvml(std::move(functions)));
}

absl::StatusOr<std::vector<GpuReading>> Nvml::Read() const {
  const Functions& nvml = *functions_;
  unsigned count = 0;
  RETURN_IF_ERROR(nvml.Check("count devices", nvml.count(&count)));
  std::vector<GpuReading> out;
  for (unsigned index = 0; index < std::min(count, kDevicesMax); ++index) {
    Device device = nullptr;
    std::array<char, kTextBytesMax> text{};
    if (nvml.handle(index, &device) != kSuccess) continue;
    if (nvml.uuid(device, text.data(), text.size()) != kSuccess) continue;
    GpuReading reading{.id = text.data(), .index = static_cast<int>(index)};
    if (nvml.name(device, text.data(), text.size()) == kSuccess) reading.name = text.data();
    Utilization utilization{};
    if (nvml.utilization(device, &utilization) == kSuccess && utilization.gpu <= 100) {
      reading.utilization = utilization.gpu / 100.0;
    }
    Memory memory{};
    if (nvml.memory(device, &memory) == kSuccess) {
      reading.memory_used_mib = static_cast<int64_t>(memory.used) / kMib;
      reading.memory_total_mib = static_cast<int64_t>(memory.total) / kMib;
    }
    out.push_back(std::move(reading));
  }
  return out;
}

}  // namespace taas
