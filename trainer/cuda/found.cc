#include "trainer/cuda/found.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <utility>

#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/cuda/cublaslt.h"
#include "trainer/cuda/cuda_device.h"
#include "trainer/cuda/cudnn.h"
#include "trainer/cuda/device_health.h"
#include "trainer/cuda/loaded_kernels.h"
#include "trainer/cuda/nccl.h"
#include "trainer/cuda/shared_library.h"
#include "trainer/kernels/cuda/images.h"

namespace taas::cuda {
namespace {

using Json = nlohmann::ordered_json;

// A library, and the function that says its version.
struct Wanted {
  const char* name;
  const char* file;  // Without its major version.
  int major;
  const char* function;
  bool by_argument;  // int f(int* version), else size_t f().
  int least = 0;  // The version, as it counts.
  // Before the function is called, with the library's path.
  absl::Status (*check)(const std::string& path) = [](const std::string&) {
    return absl::OkStatus();
  };
};

// cuDNN's functions of graphs are in libraries that it opens by itself.
constexpr Wanted kLibraries[] = {
    {"cuBLASLt", "libcublasLt.so.", 13, "cublasLtGetVersion", false},
    {"cuDNN", "libcudnn.so.", 9, "cudnnGetVersion", false, kCudnnVersionMin,
     CheckCudnnIsWhole},
    {"NCCL", "libnccl.so.", 2, "ncclGetVersion", true, kNcclVersionMin},
};
// Other major versions that a machine may have.
constexpr int kOtherMajors[] = {1, 7, 8, 9, 10, 11, 12, 13, 14};

absl::StatusOr<int> AskVersion(const SharedLibrary& library, const Wanted& wanted) {
  RETURN_IF_ERROR(wanted.check(library.path()));
  if (wanted.by_argument) {
    int (*ask)(int*) = nullptr;
    RETURN_IF_ERROR(library.Find(wanted.function, &ask));
    int number = 0;
    const int result = ask(&number);
    if (result == 0) return number;
    return absl::UnavailableError(std::string(wanted.function) + ": error " +
                                  std::to_string(result));
  }
  size_t (*ask)() = nullptr;
  RETURN_IF_ERROR(library.Find(wanted.function, &ask));
  return static_cast<int>(ask());
}

// A version that is there instead; "" for none.
std::string AnotherMajor(const std::string& prefix, const Wanted& wanted) {
  for (const int major : kOtherMajors) {
    if (major == wanted.major) continue;
    const std::string file = wanted.file + std::to_string(major);
    if (SharedLibrary::Open(prefix + file).ok()) return file;
  }
  return "";
}

FoundLibrary FindLibrary(const std::string& prefix, const Wanted& wanted) {
  FoundLibrary found{.name = wanted.name};
  const auto library = SharedLibrary::Open(prefix + wanted.file + std::to_string(wanted.major));
  if (!library.ok()) {
    found.missing = std::string(library.status().message());
    const std::string other = AnotherMajor(prefix, wanted);
    if (!other.empty()) found.missing += "; " + other + " is here, of another major version";
    return found;
  }
  found.path = library->path();
  const absl::StatusOr<int> number = AskVersion(*library, wanted);
  if (!number.ok()) {
    found.missing = std::string(number.status().message());
  } else if (*number < wanted.least) {
    found.missing = "version " + LibraryVersion(*number) + ", and this trainer needs " +
                    LibraryVersion(wanted.least) + " or later";
  } else {
    found.version = LibraryVersion(*number);
  }
  return found;
}

std::string Gib(int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f GiB", static_cast<double>(bytes) / (1 << 30));
  return text;
}

std::string CapabilityOf(const DeviceInfo& device) {
  return std::to_string(device.major) + "." + std::to_string(device.minor);
}

std::string Line(std::string head, const std::string& rest) {
  constexpr size_t kColumn = 10;
  head.resize(std::max(head.size() + 1, kColumn), ' ');
  return head + rest + "\n";
}

absl::StatusOr<DeviceCheck> CheckOne(const Driver& driver, const LoadedKernels& kernels, int index,
                                     const Names& names) {
  ASSIGN_OR_RETURN(const DeviceInfo info, driver.Describe(index));
  const absl::StatusOr<GpuHealth> health = AskHealth(info.id, names.nvml);
  if (health.ok()) {
    RETURN_IF_ERROR(CheckHealth(info, *health));
  }
  ASSIGN_OR_RETURN(const auto device, CudaDevice::Open(driver, kernels, index,
                                                       names.prefix + CublasLt::kLibrary));
  ASSIGN_OR_RETURN(DeviceCheck check, CheckThoroughly(*device));
  if (health.ok()) check.health = *health;
  return check;
}

std::string TextOf(const DeviceCheck& check) {
  char text[256];
  std::snprintf(text, sizeof(text),
                "right  copies %.0f GB/s within, %.1f to, %.1f from it; products %.1f float32, "
                "%.1f tf32, %.1f bfloat16 TFLOP/s; ",
                check.copied_gb_s, check.to_device_gb_s, check.from_device_gb_s,
                check.float32_tflop_s, check.tf32_tflop_s, check.bfloat16_tflop_s);
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "; %.1f s", check.seconds);
  const std::string health = check.health ? cuda::TextOf(*check.health) : "";
  return text + Gib(check.memory_bytes) + " of memory kept two patterns" + seconds +
         (health.empty() ? "" : "; " + health);
}

Json JsonOf(const GpuHealth& health) {
  Json json = Json::object();
  const auto set = [&json](const char* name, const auto& value) {
    if (value) json[name] = *value;
  };
  set("ecc", health.ecc);
  set("corrected", health.corrected);
  set("uncorrected", health.uncorrected);
  set("correctedEver", health.corrected_ever);
  set("uncorrectedEver", health.uncorrected_ever);
  set("remappedRows", health.remapped_rows);
  set("remapPending", health.remap_pending);
  set("remapFailed", health.remap_failed);
  set("retirementPending", health.retirement_pending);
  return json;
}

Json JsonOf(const absl::StatusOr<DeviceCheck>& check) {
  if (!check.ok()) return {{"trouble", check.status().message()}};
  Json json = {{"copiedGbPerS", check->copied_gb_s},
               {"toDeviceGbPerS", check->to_device_gb_s},
               {"fromDeviceGbPerS", check->from_device_gb_s},
               {"float32TflopPerS", check->float32_tflop_s},
               {"tf32TflopPerS", check->tf32_tflop_s},
               {"bfloat16TflopPerS", check->bfloat16_tflop_s},
               {"memoryBytes", check->memory_bytes},
               {"seconds", check->seconds}};
  if (check->health) json["health"] = JsonOf(*check->health);
  return json;
}

// Of the usable ones.
std::vector<int> IndexesOf(const Found& found) {
  std::vector<int> indexes;
  for (const DeviceInfo& device : found.devices) {
    if (device.Unusable().empty()) indexes.push_back(device.index);
  }
  return indexes;
}

}  // namespace

void Check(Found* found, const Names& names) {
  const auto driver = Driver::Load(names.driver);
  if (!driver.ok()) return;  // Without it there is no usable device.
  const auto kernels = LoadedKernels::Load(**driver, KernelImages());
  for (const int index : IndexesOf(*found)) {
    found->checks.push_back(kernels.ok() ? CheckOne(**driver, **kernels, index, names)
                                         : kernels.status());
  }
}

bool Found::AreRight() const {
  return usable() > 0 && checks.size() == static_cast<size_t>(usable()) &&
         std::ranges::all_of(checks, [](const auto& check) { return check.ok(); });
}

int Found::usable() const {
  return static_cast<int>(std::ranges::count_if(
      devices, [](const DeviceInfo& device) { return device.Unusable().empty(); }));
}

Found Find(const Names& names) {
  Found found;
  const auto driver = Driver::Load(names.driver);
  found.driver.status = driver.status();
  if (driver.ok()) {
    found.driver.release = ReleaseOf((*driver)->version());
    found.driver.path = (*driver)->path();
    auto devices = (*driver)->Devices();
    found.devices_status = devices.status();
    if (devices.ok()) found.devices = *std::move(devices);
  }
  for (const Wanted& wanted : kLibraries) {
    found.libraries.push_back(FindLibrary(names.prefix, wanted));
  }
  return found;
}

std::string TextOf(const Found& found) {
  const FoundDriver& driver = found.driver;
  std::string text = Line("driver", driver.status.ok()
                                        ? "CUDA " + driver.release + "  " + driver.path
                                        : std::string(driver.status.message()));
  if (!found.devices_status.ok()) {
    text += Line("devices", std::string(found.devices_status.message()));
  }
  for (const DeviceInfo& device : found.devices) {
    const std::string unusable = device.Unusable();
    const std::string which = "device " + std::to_string(device.index);
    if (!device.trouble.empty()) {
      text += Line(which, "not usable: " + unusable);
      continue;
    }
    text += Line(which,
                 device.name + "  " + CapabilityOf(device) + "  " + Gib(device.memory_bytes) +
                     "  " + std::to_string(device.multiprocessors) + " multiprocessors  " +
                     (device.ecc ? "ECC  " : "") + device.id +
                     (unusable.empty() ? "" : "  not usable: " + unusable));
  }
  for (const FoundLibrary& library : found.libraries) {
    text += Line(library.name, library.missing.empty()
                                   ? library.version + "  " + library.path
                                   : library.missing);
  }
  const std::vector<int> indexes = IndexesOf(found);
  for (size_t i = 0; i < found.checks.size(); ++i) {
    const absl::StatusOr<DeviceCheck>& check = found.checks[i];
    text += Line("check " + std::to_string(indexes[i]),
                 check.ok() ? TextOf(*check) : std::string(check.status().message()));
  }
  return text;
}

std::string JsonOf(const Found& found) {
  Json json;
  if (found.driver.status.ok()) {
    json["driver"] = {{"cuda", found.driver.release}, {"path", found.driver.path}};
  } else {
    json["driver"] = {{"missing", found.driver.status.message()}};
  }
  if (!found.devices_status.ok()) json["driver"]["devices"] = found.devices_status.message();
  json["devices"] = Json::array();
  for (const DeviceInfo& device : found.devices) {
    if (!device.trouble.empty()) {
      json["devices"].push_back({{"index", device.index}, {"unusable", device.trouble}});
      continue;
    }
    Json entry = {{"index", device.index},
                  {"id", device.id},
                  {"name", device.name},
                  {"computeCapability", CapabilityOf(device)},
                  {"memoryBytes", device.memory_bytes},
                  {"multiprocessors", device.multiprocessors},
                  {"ecc", device.ecc}};
    if (const std::string why = device.Unusable(); !why.empty()) entry["unusable"] = why;
    json["devices"].push_back(std::move(entry));
  }
  json["libraries"] = Json::array();
  for (const FoundLibrary& library : found.libraries) {
    Json entry = {{"name", library.name}};
    if (library.missing.empty()) {
      entry["version"] = library.version;
    } else {
      entry["missing"] = library.missing;
    }
    if (!library.path.empty()) entry["path"] = library.path;
    json["libraries"].push_back(std::move(entry));
  }
  json["usable"] = found.usable();
  const std::vector<int> indexes = IndexesOf(found);
  for (size_t i = 0; i < found.checks.size(); ++i) {
    Json check = JsonOf(found.checks[i]);
    check["index"] = indexes[i];
    json["checks"].push_back(std::move(check));
  }
  return json.dump(2) + "\n";
}

}  // namespace taas::cuda
