// The driver that stands for NVIDIA's on machines without one: libcuda.so.1, which programs load
// through driver.h or LD_LIBRARY_PATH. Here: what it says of itself and of its devices
// (fake_machine.h); how it computes is in fake_driver.cc.

#include <cstring>

#include "trainer/cuda/driver_api.h"
#include "trainer/cuda/fake/fake_machine.h"

namespace taas::cuda::fake {
namespace {

// Calls `answer` with the device of the number, unless that is lost or there is none.
template <typename Answer>
int About(int number, Answer answer) {
  const FakeMachine machine = ReadMachine();
  if (number < 0 || static_cast<size_t>(number) >= machine.devices.size()) return kCuInvalidDevice;
  const FakeDevice& device = machine.devices[static_cast<size_t>(number)];
  return device.lost ? kCuUnknown : answer(device);
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return ReadMachine().init; }

int cuDriverGetVersion(int* version) {
  *version = ReadMachine().version;
  return kCuSuccess;
}

int cuGetErrorName(int result, const char** text) {
  *text = result == kCuNoDevice           ? "CUDA_ERROR_NO_DEVICE"
          : result == kCuEccUncorrectable ? "CUDA_ERROR_ECC_UNCORRECTABLE"
          : result == kCuUnknown          ? "CUDA_ERROR_UNKNOWN"
                                        : nullptr;
  return *text == nullptr ? kCuInvalidValue : kCuSuccess;
}

int cuGetErrorString(int result, const char** text) {
  *text = result == kCuNoDevice ? "no CUDA-capable device is detected" : "unknown error";
  return kCuSuccess;
}

int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(ReadMachine().devices.size());
  return kCuSuccess;
}

int cuDeviceGet(int* device, int index) {
  *device = index;
  return kCuSuccess;
}

int cuDeviceGetName(char* name, int bytes, int device) {
  return About(device, [&](const FakeDevice& of) {
    std::strncpy(name, of.name.c_str(), static_cast<size_t>(bytes) - 1);
    return kCuSuccess;
  });
}

int cuDeviceGetUuid_v2(CuUuid* uuid, int device) {
  return About(device, [&](const FakeDevice& of) {
    uuid->bytes.fill(static_cast<unsigned char>(0xa0 + of.number));
    return kCuSuccess;
  });
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return About(device, [&](const FakeDevice& of) {
    switch (attribute) {
      case kCuMultiprocessorCount: *value = of.multiprocessors; return kCuSuccess;
      case kCuEccEnabled: *value = of.ecc; return kCuSuccess;
      case kCuMajor: *value = of.major; return kCuSuccess;
      case kCuMinor: *value = of.minor; return kCuSuccess;
      default: return kCuInvalidValue;
    }
  });
}

int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  return About(device, [&](const FakeDevice& of) {
    *bytes = of.bytes;
    return kCuSuccess;
  });
}

}  // extern "C"

}  // namespace taas::cuda::fake
