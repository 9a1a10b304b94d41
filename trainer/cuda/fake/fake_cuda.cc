// Stands for NVIDIA's driver on machines without one: libcuda.so.1, which programs load through
// driver.h or LD_LIBRARY_PATH. What it is like is in the file that TAAS_FAKE_CUDA names, read at
// each call; without the file there is no device:
//
//   version 13000                                    of CUDA, as the driver counts
//   init 803                                         what cuInit answers
//   device 9 0 85899345920 132 1 NVIDIA H100         capability, bytes, multiprocessors, ECC, name
//   device lost                                      each question about it fails
//   fail kernel 2000 214                             see FakeCudaFailAt; read when one computes

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kSuccess = 0, kInvalidValue = 1, kNoDevice = 100, kInvalidDevice = 101;
constexpr int kEccUncorrectable = 214;
constexpr int kMultiprocessorCount = 16, kEccEnabled = 32, kMajor = 75, kMinor = 76;

struct Device {
  bool lost = false;
  int major = 0, minor = 0, multiprocessors = 0, ecc = 0;
  size_t bytes = 0;
  std::string name;
};

struct Machine {
  int version = 13'000;
  int init = kNoDevice;
  std::vector<Device> devices;
};

Machine Read() {
  Machine machine;
  const char* const path = std::getenv("TAAS_FAKE_CUDA");
  std::ifstream file(path == nullptr ? "" : path);
  if (file.is_open()) machine.init = kSuccess;
  for (std::string line; std::getline(file, line);) {
    std::istringstream text(line);
    std::string what;
    text >> what;
    if (what == "version") text >> machine.version;
    if (what == "init") text >> machine.init;
    if (what != "device") continue;
    Device device;
    device.lost = !(text >> device.major >> device.minor >> device.bytes >>
                    device.multiprocessors >> device.ecc >> std::ws);
    std::getline(text, device.name);
    machine.devices.push_back(device);
  }
  return machine;
}

// Calls `answer` with the device of the number, unless that is lost or there is none.
template <typename Answer>
int About(int number, Answer answer) {
  const Machine machine = Read();
  if (number < 0 || static_cast<size_t>(number) >= machine.devices.size()) return kInvalidDevice;
  const Device& device = machine.devices[static_cast<size_t>(number)];
  return device.lost ? 999 : answer(device);
}

}  // namespace

extern "C" {

struct Uuid {
  unsigned char bytes[16];
};

int cuInit(unsigned) { return Read().init; }

int cuDriverGetVersion(int* version) {
  *version = Read().version;
  return kSuccess;
}

int cuGetErrorName(int result, const char** text) {
  *text = result == kNoDevice           ? "CUDA_ERROR_NO_DEVICE"
          : result == kEccUncorrectable ? "CUDA_ERROR_ECC_UNCORRECTABLE"
          : result == 999               ? "CUDA_ERROR_UNKNOWN"
                                        : nullptr;
  return *text == nullptr ? kInvalidValue : kSuccess;
}

int cuGetErrorString(int result, const char** text) {
  *text = result == 100 ? "no CUDA-capable device is detected" : "unknown error";
  return kSuccess;
}

int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(Read().devices.size());
  return kSuccess;
}

int cuDeviceGet(int* device, int index) {
  *device = index;
  return kSuccess;
}

int cuDeviceGetName(char* name, int bytes, int device) {
  return About(device, [&](const Device& of) {
    std::strncpy(name, of.name.c_str(), static_cast<size_t>(bytes) - 1);
    return kSuccess;
  });
}

int cuDeviceGetUuid_v2(Uuid* uuid, int device) {
  std::memset(uuid->bytes, 0xa0 + device, sizeof(uuid->bytes));
  return kSuccess;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return About(device, [&](const Device& of) {
    switch (attribute) {
      case kMultiprocessorCount: *value = of.multiprocessors; return kSuccess;
      case kEccEnabled: *value = of.ecc; return kSuccess;
      case kMajor: *value = of.major; return kSuccess;
      case kMinor: *value = of.minor; return kSuccess;
      default: return kInvalidValue;
    }
  });
}

int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  return About(device, [&](const Device& of) {
    *bytes = of.bytes;
    return kSuccess;
  });
}

}  // extern "C"
