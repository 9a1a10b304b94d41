// What a test tells the driver that stands for NVIDIA's, and asks it: functions of its library,
// beside the driver's own.
//
// Threads: any. Errors: none.
//
//   const FakeGpu gpu;  // fake_gpu.h
//   gpu.FailAt("cuMemAlloc", 3, kCuOutOfMemory);

#ifndef TRAINER_CUDA_FAKE_FAKE_CONTROL_H_
#define TRAINER_CUDA_FAKE_FAKE_CONTROL_H_

#include <cstddef>
#include <functional>

#include "trainer/cuda/driver_api.h"

namespace taas::cuda::fake {

// What has been made and is not destroyed, on all devices.
struct FakeCudaLeft {
  size_t buffers, pinned, streams, events, graphs, libraries, contexts;
  size_t communicators = 0;  // Of NCCL.
  size_t handles = 0, descriptors = 0;  // Of cuDNN.
  bool operator==(const FakeCudaLeft&) const = default;
};

// It runs, and then a bit in the middle of each buffer of its device is another.
inline constexpr int kFlipsABit = -1;
// It never ends, and its stream hangs. Of a "collective": its rank does not come to it.
inline constexpr int kNeverEnds = -3;
// What work of a library returns that another stream has to come to, too: it is called again.
inline constexpr int kNotYet = -2;

extern "C" {
// The nth call of a function from now on (from 1) returns `result`, and does nothing. Of "kernel",
// "copy", "clear", "library" and "collective": the nth that runs; of "kernel@1": on device 1. 0:
// none does any more; also what stays of an error goes.
void FakeCudaFailAt(const char* function, int nth, int result);
// How often it was called since the program began, or the last FakeCudaFailAt of it.
int FakeCudaCalls(const char* function);
FakeCudaLeft FakeCudaWhatIsLeft();
// For the libraries that stand for NVIDIA's: what a kernel of theirs does, CUresult.
int FakeCudaLaunch(CuStream stream, std::function<int()> work);

// For that which stands for NCCL. What FakeCudaFailAt has said of this call.
int FakeCudaCount(const char* function);
// Of the context that is current, of a stream: the device's number; -1: there is none.
int FakeCudaDevice();
int FakeCudaDeviceOf(CuStream stream);
// CUresult of a call that a capture of this thread does not allow.
int FakeCudaForbidden();
// Whether that is memory of the device.
bool FakeCudaContains(int device, const void* memory, size_t bytes);
// As FakeCudaLaunch, of what sees the memory of all devices.
int FakeCudaMeet(CuStream stream, std::function<int()> work);
// What work waits for has changed; so many more communicators are there.
void FakeCudaWake(int communicators);

// For that which stands for cuDNN: so many more of them are there.
void FakeCudaHold(int handles, int descriptors);
}

}  // namespace taas::cuda::fake

#endif  // TRAINER_CUDA_FAKE_FAKE_CONTROL_H_
