#include "operator/base/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <utility>

#include "operator/base/status.h"

namespace taas {
namespace {

using Result = int;
constexpr Result kSuccess = 0, kNotFound = 6;
using Device = void*;

struct Utilization {
  unsigned gpu, memory;  // Percent.
};
struct Memory {
  unsigned long long total, free, used;  // Bytes.
};

// nvmlTemperatureSensors_t, nvmlMemoryErrorType_t, nvmlEccCounterType_t, nvmlEnableState_t.
constexpr int kOfGpu = 0;
constexpr int kCorrected = 0, kUncorrected = 1;
constexpr int kVolatile = 0, kAggregate = 1;
constexpr int kEnabled = 1;

// NVML_DEVICE_UUID_V2_BUFFER_SIZE and NVML_DEVICE_NAME_V2_BUFFER_SIZE.
constexpr size_t kTextBytesMax = 96;
// More than any machine has.
constexpr unsigned kDevicesMax = 1'024;
constexpr int64_t kMib = 1024 * 1024;

// nvmlClocksEventReasons. The hardware's slowdown is set with those that say what it is for.
constexpr uint64_t kHardwareSlowdown = 0x8, kHardwareHeat = 0x40, kPowerBrake = 0x80;
constexpr std::pair<uint64_t, const char*> kThrottles[] = {
    {0x4, "PowerCap"}, {kHardwareSlowdown, "HardwareSlowdown"}, {0x10, "SyncBoost"},
    {0x20, "Heat"},    {kHardwareHeat, "HardwareHeat"},         {kPowerBrake, "PowerBrake"}};

std::string LoaderError() {
  const char* const text = dlerror();
  return text == nullptr ? "unknown error" : text;
}

}  // namespace

std::vector<std::string> ThrottleWords(uint64_t reasons) {
  if ((reasons & (kHardwareHeat | kPowerBrake)) != 0) reasons &= ~kHardwareSlowdown;
  std::vector<std::string> words;
  for (const auto& [bit, word] : kThrottles) {
    if ((reasons & bit) != 0) words.emplace_back(word);
  }
  return words;
}

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
  // Null where the driver is too old to have it.
  Result (*handle_by_id)(const char*, Device*);
  Result (*index)(Device, unsigned*);
  Result (*power)(Device, unsigned*);        // Milliwatts.
  Result (*power_limit)(Device, unsigned*);  // Milliwatts.
  Result (*temperature)(Device, int, unsigned*);
  Result (*event_reasons)(Device, unsigned long long*);
  Result (*throttle_reasons)(Device, unsigned long long*);  // Its name until release 535.
  Result (*ecc_mode)(Device, int* current, int* pending);
  Result (*ecc_errors)(Device, int type, int counter, unsigned long long*);
  Result (*remapped)(Device, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
                     unsigned* failed);
  Result (*retirement_pending)(Device, int*);

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
    const std::pair<const char*, void**> where_there[] = {
        {"nvmlDeviceGetHandleByUUID", reinterpret_cast<void**>(&handle_by_id)},
        {"nvmlDeviceGetIndex", reinterpret_cast<void**>(&index)},
        {"nvmlDeviceGetPowerUsage", reinterpret_cast<void**>(&power)},
        {"nvmlDeviceGetEnforcedPowerLimit", reinterpret_cast<void**>(&power_limit)},
        {"nvmlDeviceGetTemperature", reinterpret_cast<void**>(&temperature)},
        {"nvmlDeviceGetCurrentClocksEventReasons", reinterpret_cast<void**>(&event_reasons)},
        {"nvmlDeviceGetCurrentClocksThrottleReasons", reinterpret_cast<void**>(&throttle_reasons)},
        {"nvmlDeviceGetEccMode", reinterpret_cast<void**>(&ecc_mode)},
        {"nvmlDeviceGetTotalEccErrors", reinterpret_cast<void**>(&ecc_errors)},
        {"nvmlDeviceGetRemappedRows", reinterpret_cast<void**>(&remapped)},
        {"nvmlDeviceGetRetiredPagesPendingStatus", reinterpret_cast<void**>(&retirement_pending)},
    };
    for (const auto& [symbol, place] : where_there) *place = dlsym(library, symbol);
    if (event_reasons == nullptr) event_reasons = throttle_reasons;
    return absl::OkStatus();
  }

  absl::Status Check(const std::string& what, Result result) const {
    if (result == kSuccess) return absl::OkStatus();
    const std::string text = "NVML: " + what + ": " + error(result);
    return result == kNotFound ? absl::NotFoundError(text) : absl::UnavailableError(text);
  }

  absl::StatusOr<Device> Named(const std::string& id) const {
    Device device = nullptr;
    if (handle_by_id == nullptr) {
      return absl::UnavailableError("NVML has no nvmlDeviceGetHandleByUUID");
    }
    RETURN_IF_ERROR(Check("find device " + id, handle_by_id(id.c_str(), &device)));
    return device;
  }

  // Nothing where the function is not there, or the device does not tell.
  template <typename Number, typename... Of, typename... With>
  static std::optional<Number> Ask(Result (*function)(Device, Of...), Device device,
                                   With... arguments) {
    Number number{};
    if (function == nullptr || function(device, arguments..., &number) != kSuccess) return {};
    return number;
  }

  std::optional<int64_t> EccErrors(Device device, int type, int counter) const {
    const auto errors = Ask<unsigned long long>(ecc_errors, device, type, counter);
    if (!errors) return std::nullopt;
    return static_cast<int64_t>(*errors);
  }

  void ReadLoad(Device device, GpuReading* to) const {
    const auto used = Ask<Utilization>(utilization, device);
    if (used && used->gpu <= 100) to->utilization = used->gpu / 100.0;
    if (const auto bytes = Ask<Memory>(memory, device)) {
      to->memory_used_mib = static_cast<int64_t>(bytes->used) / kMib;
      to->memory_total_mib = static_cast<int64_t>(bytes->total) / kMib;
    }
  }

  void ReadState(Device device, GpuReading* to) const {
    if (const auto milliwatts = Ask<unsigned>(power, device)) {
      to->power_watts = *milliwatts / 1000.0;
    }
    if (const auto milliwatts = Ask<unsigned>(power_limit, device)) {
      to->power_limit_watts = *milliwatts / 1000.0;
    }
    if (const auto degrees = Ask<unsigned>(temperature, device, kOfGpu)) {
      to->temperature_c = static_cast<int>(*degrees);
    }
    if (const auto reasons = Ask<unsigned long long>(event_reasons, device)) {
      to->throttle = ThrottleWords(*reasons);
    }
    to->ecc_uncorrected = EccErrors(device, kUncorrected, kVolatile);
  }

  // Nothing: it does not answer.
  std::optional<GpuReading> ReadDevice(Device device, int number) const {
    std::array<char, kTextBytesMax> text{};
    if (uuid(device, text.data(), text.size()) != kSuccess) return std::nullopt;
    GpuReading reading{.id = text.data(), .index = number};
    if (name(device, text.data(), text.size()) == kSuccess) reading.name = text.data();
    ReadLoad(device, &reading);
    ReadState(device, &reading);
    return reading;
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
    if (nvml.handle(index, &device) != kSuccess) continue;
    auto reading = nvml.ReadDevice(device, static_cast<int>(index));
    if (reading) out.push_back(*std::move(reading));
  }
  return out;
}

absl::StatusOr<GpuReading> Nvml::Read(const std::string& id) const {
  const Functions& nvml = *functions_;
  ASSIGN_OR_RETURN(const Device device, nvml.Named(id));
  const auto number = Functions::Ask<unsigned>(nvml.index, device);
  auto reading = nvml.ReadDevice(device, static_cast<int>(number.value_or(0)));
  if (reading) return *std::move(reading);
  return absl::UnavailableError("NVML: ask device " + id + ": it does not answer");
}

absl::StatusOr<GpuHealth> Nvml::Health(const std::string& id) const {
  const Functions& nvml = *functions_;
  ASSIGN_OR_RETURN(const Device device, nvml.Named(id));
  GpuHealth health;
  int current = 0, pending = 0;
  if (nvml.ecc_mode != nullptr && nvml.ecc_mode(device, &current, &pending) == kSuccess) {
    health.ecc = current == kEnabled;
  }
  health.corrected = nvml.EccErrors(device, kCorrected, kVolatile);
  health.uncorrected = nvml.EccErrors(device, kUncorrected, kVolatile);
  health.corrected_ever = nvml.EccErrors(device, kCorrected, kAggregate);
  health.uncorrected_ever = nvml.EccErrors(device, kUncorrected, kAggregate);
  unsigned corrected = 0, uncorrected = 0, waits = 0, failed = 0;
  if (nvml.remapped != nullptr &&
      nvml.remapped(device, &corrected, &uncorrected, &waits, &failed) == kSuccess) {
    health.remapped_rows = int64_t{corrected} + uncorrected;
    health.remap_pending = waits != 0;
    health.remap_failed = failed != 0;
  }
  if (const auto retires = Functions::Ask<int>(nvml.retirement_pending, device)) {
    health.retirement_pending = *retires == kEnabled;
  }
  return health;
}

}  // namespace taas
