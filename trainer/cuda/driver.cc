#include "trainer/cuda/driver.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "operator/base/status.h"

namespace taas::cuda {
namespace {

constexpr int kSuccess = 0;
// CUdevice_attribute.
constexpr int kMultiprocessorCount = 16, kEccEnabled = 32, kMajor = 75, kMinor = 76;
constexpr size_t kNameBytesMax = 256;

struct Uuid {
  std::array<unsigned char, 16> bytes;
};

// The bytes in groups of 4, 2, 2, 2 and 6, as nvidia-smi writes them; of a part of a GPU (MIG),
// whose name says so, the part's.
std::string TextOf(const Uuid& uuid, const std::string& name) {
  std::string text = name.find(" MIG ") == std::string::npos ? "GPU" : "MIG";
  for (size_t i = 0; i < uuid.bytes.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", uuid.bytes[i]);
    text += digits;
  }
  return text;
}

// Of CUresult, what it mostly comes from and what helps.
const char* AdviceOn(int result) {
  switch (result) {
    case 34:
      return "this libcuda.so.1 is the stub of the CUDA Toolkit, which programs are linked with: "
             "take it off the loader's path";
    case 46: return "another process has the device for itself, or it is being reset";
    case 100:
      return "the driver sees no device: this container was given none, or CUDA_VISIBLE_DEVICES "
             "hides them";
    case 101: return "CUDA_VISIBLE_DEVICES names a device that is not there";
    case 304: return "the device files /dev/nvidia* cannot be opened: this process may not, or the "
                     "container was not given them";
    case 802: return "the machine's GPUs are not ready: its fabric manager does not run, or has "
                     "not ended its start";
    case 803: return "the driver's library and its kernel module are of different releases: start "
                     "the machine, or the container, anew";
    case 804: return "this driver is a compatibility package that does not work with this GPU";
    case 999: return "often the device files /dev/nvidia* are missing: is nvidia-modprobe run, or "
                     "the container given a GPU?";
    default: return "";
  }
}

}  // namespace

std::string ReleaseOf(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string DeviceInfo::Unusable() const {
  if (!trouble.empty() || major >= kCapabilityMajorMin) return trouble;
  return "compute capability " + std::to_string(major) + "." + std::to_string(minor) +
         ", and the kernels are compiled for " + std::to_string(kCapabilityMajorMin) +
         ".0 and later";
}

struct Driver::Functions {
  int (*init)(unsigned flags);
  int (*version)(int* version);
  int (*error_name)(int result, const char** text);
  int (*error_text)(int result, const char** text);
  int (*count)(int* count);
  int (*get)(int* device, int index);
  int (*name)(char* name, int bytes, int device);
  int (*uuid)(Uuid* uuid, int device);
  int (*attribute)(int* value, int attribute, int device);
  int (*memory)(size_t* bytes, int device);
};

Driver::Driver(SharedLibrary library)
    : library_(std::move(library)), functions_(std::make_unique<Functions>()) {}

Driver::~Driver() = default;

absl::StatusOr<std::unique_ptr<Driver>> Driver::Load(const std::string& name) {
  absl::StatusOr<SharedLibrary> library = SharedLibrary::Open(name);
  if (!library.ok()) {
    return absl::NotFoundError("no NVIDIA driver here: " + std::string(library.status().message()));
  }
  std::unique_ptr<Driver> driver(new Driver(*std::move(library)));
  RETURN_IF_ERROR(driver->Start());
  return driver;
}

absl::Status Driver::Start() {
  Functions& f = *functions_;
  RETURN_IF_ERROR(library_.Find("cuDriverGetVersion", &f.version));
  RETURN_IF_ERROR(library_.Find("cuGetErrorName", &f.error_name));
  RETURN_IF_ERROR(library_.Find("cuGetErrorString", &f.error_text));
  // Before it is started: a driver that is too old may lack what follows.
  RETURN_IF_ERROR(Check("ask for the version", f.version(&version_)));
  if (version_ < kDriverVersionMin) {
    return absl::FailedPreconditionError(
        "the NVIDIA driver knows CUDA " + ReleaseOf(version_) + ", and this trainer needs " +
        ReleaseOf(kDriverVersionMin) + ": install a driver of release 580 or later");
  }
  RETURN_IF_ERROR(library_.Find("cuInit", &f.init));
  RETURN_IF_ERROR(library_.Find("cuDeviceGetCount", &f.count));
  RETURN_IF_ERROR(library_.Find("cuDeviceGet", &f.get));
  RETURN_IF_ERROR(library_.Find("cuDeviceGetName", &f.name));
  RETURN_IF_ERROR(library_.Find("cuDeviceGetUuid_v2", &f.uuid));
  RETURN_IF_ERROR(library_.Find("cuDeviceGetAttribute", &f.attribute));
  RETURN_IF_ERROR(library_.Find("cuDeviceTotalMem_v2", &f.memory));
  return Check("start", f.init(0));
}

absl::Status Driver::Check(const std::string& what, int result) const {
  if (result == kSuccess) return absl::OkStatus();
  const char* name = nullptr;
  const char* text = nullptr;
  const bool known = functions_->error_name(result, &name) == kSuccess &&
                     functions_->error_text(result, &text) == kSuccess;
  const std::string advice = AdviceOn(result);
  return absl::FailedPreconditionError(
      "NVIDIA driver: " + what + ": " +
      (known ? std::string(name) + " (" + text + ")" : "error " + std::to_string(result)) +
      (advice.empty() ? "" : "; " + advice));
}

absl::StatusOr<std::vector<DeviceInfo>> Driver::Devices() const {
  int count = 0;
  RETURN_IF_ERROR(Check("count devices", functions_->count(&count)));
  std::vector<DeviceInfo> devices;
  for (int index = 0; index < std::min(count, kDevicesMax); ++index) {
    absl::StatusOr<DeviceInfo> device = Describe(index);
    if (!device.ok()) {
      device = DeviceInfo{.index = index, .trouble = std::string(device.status().message())};
    }
    devices.push_back(*std::move(device));
  }
  return devices;
}

absl::StatusOr<DeviceInfo> Driver::Describe(int index) const {
  const Functions& f = *functions_;
  const std::string which = " device " + std::to_string(index);
  DeviceInfo info{.index = index};
  int device = 0;
  RETURN_IF_ERROR(Check("find" + which, f.get(&device, index)));
  std::array<char, kNameBytesMax> name{};
  RETURN_IF_ERROR(Check("ask for the name of" + which, f.name(name.data(), name.size(), device)));
  info.name = name.data();
  Uuid uuid{};
  RETURN_IF_ERROR(Check("ask for the id of" + which, f.uuid(&uuid, device)));
  info.id = TextOf(uuid, info.name);
  size_t bytes = 0;
  RETURN_IF_ERROR(Check("ask for the memory of" + which, f.memory(&bytes, device)));
  info.memory_bytes = static_cast<int64_t>(bytes);
  int ecc = 0;
  for (const auto& [attribute, value] :
       {std::pair(kMajor, &info.major), std::pair(kMinor, &info.minor),
        std::pair(kMultiprocessorCount, &info.multiprocessors), std::pair(kEccEnabled, &ecc)}) {
    RETURN_IF_ERROR(Check("ask for attribute " + std::to_string(attribute) + " of" + which,
                          f.attribute(value, attribute, device)));
  }
  info.ecc = ecc != 0;
  return info;
}

}  // namespace taas::cuda
