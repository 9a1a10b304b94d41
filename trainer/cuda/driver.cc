#include "trainer/cuda/driver.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <utility>

#include "operator/base/status.h"
#include "trainer/graph/machine_fault.h"

namespace taas::cuda {
namespace {

constexpr size_t kNameBytesMax = 256;

// The bytes in groups of 4, 2, 2, 2 and 6, as nvidia-smi writes them; of a part of a GPU (MIG),
// whose name says so, the part's.
std::string TextOf(const CuUuid& uuid, const std::string& name) {
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
    case kCuNoDevice:
      return "the driver sees no device: this container was given none, or CUDA_VISIBLE_DEVICES "
             "hides them";
    case kCuInvalidDevice: return "CUDA_VISIBLE_DEVICES names a device that is not there";
    case kCuEccUncorrectable:
      return "its memory has had an error that ECC could not correct (Xid 48, 63, 64, 94 or 95 in "
             "the kernel's log)";
    case kCuNvlinkUncorrectable:
      return "a link between GPUs has had an error that it could not correct (Xid 74 in the "
             "kernel's log)";
    case kCuContained:
      return "an error of its memory was kept to this process (Xid 94 in the kernel's log)";
    case kCuIllegalAddress:
      return "a kernel used memory that is not there: a fault of this program, or of the card's "
             "memory (Xid 31 in the kernel's log)";
    case kCuIllegalInstruction:
    case kCuMisalignedAddress:
    case kCuInvalidAddressSpace:
    case kCuInvalidPc:
    case kCuHardwareStackError:
      return "a kernel did what none may: a fault of this program, or of the card (Xid 13 in the "
             "kernel's log)";
    case kCuLaunchFailed:
      return "a kernel failed, and the kernel's log says by which Xid: 48, 63, 64, 79, 94 and 95 "
             "are the card's, 13 and 31 this program's or the card's";
    case 304: return "the device files /dev/nvidia* cannot be opened: this process may not, or the "
                     "container was not given them";
    case 802: return "the machine's GPUs are not ready: its fabric manager does not run, or has "
                     "not ended its start";
    case 803: return "the driver's library and its kernel module are of different releases: start "
                     "the machine, or the container, anew";
    case 804: return "this driver is a compatibility package that does not work with this GPU";
    case kCuUnknown:
      return "often the device files /dev/nvidia* are missing: is nvidia-modprobe run, or the "
             "container given a GPU?";
    default: return "";
  }
}

// What a device does not come back from in this process: it is lost, its memory or a link is
// broken, or a kernel has done what it may not.
bool IsLost(int result) {
  constexpr int kLost[] = {kCuEccUncorrectable,   kCuNvlinkUncorrectable, kCuContained,
                           kCuIllegalAddress,     kCuLaunchTimeout,       kCuAssert,
                           kCuHardwareStackError, kCuIllegalInstruction,  kCuMisalignedAddress,
                           kCuInvalidAddressSpace, kCuInvalidPc,          kCuLaunchFailed,
                           kCuUnknown};
  return std::ranges::find(kLost, result) != std::end(kLost);
}

absl::StatusCode CodeOf(int result) {
  if (result == kCuOutOfMemory) return absl::StatusCode::kResourceExhausted;
  return IsLost(result) ? absl::StatusCode::kUnavailable : absl::StatusCode::kFailedPrecondition;
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

Driver::Driver(SharedLibrary library) : library_(std::move(library)) {}

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
  RETURN_IF_ERROR(library_.Find("cuDriverGetVersion", &api_.DriverGetVersion));
  RETURN_IF_ERROR(library_.Find("cuGetErrorName", &api_.GetErrorName));
  RETURN_IF_ERROR(library_.Find("cuGetErrorString", &api_.GetErrorString));
  // Before it is started: a driver that is too old may lack what follows.
  RETURN_IF_ERROR(Check("ask for the version", api_.DriverGetVersion(&version_)));
  if (version_ < kDriverVersionMin) {
    return absl::FailedPreconditionError(
        "the NVIDIA driver knows CUDA " + ReleaseOf(version_) + ", and this trainer needs " +
        ReleaseOf(kDriverVersionMin) + ": install a driver of release 580 or later");
  }
#define FIND(function, version) \
  RETURN_IF_ERROR(library_.Find("cu" #function version, &api_.function))
  FIND(Init, "");
  FIND(DeviceGetCount, "");
  FIND(DeviceGet, "");
  FIND(DeviceGetName, "");
  FIND(DeviceGetUuid, "_v2");
  FIND(DeviceGetAttribute, "");
  FIND(DeviceTotalMem, "_v2");
  FIND(DevicePrimaryCtxRetain, "");
  FIND(DevicePrimaryCtxRelease, "_v2");
  FIND(CtxSetCurrent, "");
  FIND(MemGetInfo, "_v2");
  FIND(MemAlloc, "_v2");
  FIND(MemFree, "_v2");
  FIND(MemHostAlloc, "");
  FIND(MemFreeHost, "");
  FIND(MemcpyAsync, "");
  FIND(MemsetD8Async, "");
  FIND(StreamCreate, "");
  FIND(StreamDestroy, "_v2");
  FIND(StreamSynchronize, "");
  FIND(StreamWaitEvent, "");
  FIND(EventCreate, "");
  FIND(EventDestroy, "_v2");
  FIND(EventRecordWithFlags, "");
  FIND(EventSynchronize, "");
  FIND(EventQuery, "");
  FIND(EventElapsedTime, "_v2");
  FIND(StreamBeginCapture, "_v2");
  FIND(StreamEndCapture, "");
  FIND(GraphInstantiateWithFlags, "");
  FIND(GraphDestroy, "");
  FIND(GraphLaunch, "");
  FIND(GraphExecDestroy, "");
  FIND(LibraryLoadData, "");
  FIND(LibraryUnload, "");
  FIND(LibraryGetKernel, "");
  FIND(LaunchKernel, "");
#undef FIND
  return Check("start", api_.Init(0));
}

absl::Status Driver::ErrorOf(std::string_view what, int result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  const bool known = api_.GetErrorName(result, &name) == kCuSuccess &&
                     api_.GetErrorString(result, &text) == kCuSuccess;
  const std::string advice = AdviceOn(result);
  absl::Status error(
      CodeOf(result),
      "NVIDIA driver: " + std::string(what) + ": " +
          (known ? std::string(name) + " (" + text + ")" : "error " + std::to_string(result)) +
          (advice.empty() ? "" : "; " + advice));
  return IsLost(result) ? MachineFault(std::move(error)) : error;
}

absl::StatusOr<std::vector<DeviceInfo>> Driver::Devices() const {
  int count = 0;
  RETURN_IF_ERROR(Check("count devices", api_.DeviceGetCount(&count)));
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
  const std::string which = " device " + std::to_string(index);
  DeviceInfo info{.index = index};
  int device = 0;
  RETURN_IF_ERROR(Check("find" + which, api_.DeviceGet(&device, index)));
  std::array<char, kNameBytesMax> name{};
  RETURN_IF_ERROR(Check("ask for the name of" + which,
                        api_.DeviceGetName(name.data(), name.size(), device)));
  info.name = name.data();
  CuUuid uuid{};
  RETURN_IF_ERROR(Check("ask for the id of" + which, api_.DeviceGetUuid(&uuid, device)));
  info.id = TextOf(uuid, info.name);
  size_t bytes = 0;
  RETURN_IF_ERROR(Check("ask for the memory of" + which, api_.DeviceTotalMem(&bytes, device)));
  info.memory_bytes = static_cast<int64_t>(bytes);
  int ecc = 0;
  for (const auto& [attribute, value] :
       {std::pair(kCuMajor, &info.major), std::pair(kCuMinor, &info.minor),
        std::pair(kCuMultiprocessorCount, &info.multiprocessors), std::pair(kCuEccEnabled, &ecc)}) {
    RETURN_IF_ERROR(Check("ask for attribute " + std::to_string(attribute) + " of" + which,
                          api_.DeviceGetAttribute(value, attribute, device)));
  }
  info.ecc = ecc != 0;
  return info;
}

}  // namespace taas::cuda
