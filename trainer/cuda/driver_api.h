// The functions of NVIDIA's driver that are used, with the names and signatures of the CUDA Driver
// API reference (13.0); versioned names (cuMemAlloc_v2) without the version.
//
// Declared here, since its header comes with the CUDA Toolkit only. Handles are pointers to what is
// the driver's, results CUresult as numbers.
//
// Ownership: none. Threads: any; a thread needs a current context for most. Errors: numbers, which
// Driver::Check puts into words.

#ifndef TRAINER_CUDA_DRIVER_API_H_
#define TRAINER_CUDA_DRIVER_API_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace taas::cuda {

using CuContext = struct CuContextOf*;
using CuStream = struct CuStreamOf*;
using CuEvent = struct CuEventOf*;
using CuGraph = struct CuGraphOf*;
using CuGraphExec = struct CuGraphExecOf*;
using CuLibrary = struct CuLibraryOf*;
using CuKernel = struct CuKernelOf*;
using CuPointer = uint64_t;

struct CuUuid {
  std::array<unsigned char, 16> bytes;
};

// CUresult, as far as one is told from another.
inline constexpr int kCuSuccess = 0, kCuInvalidValue = 1, kCuOutOfMemory = 2, kCuNoDevice = 100,
                     kCuInvalidDevice = 101, kCuInvalidContext = 201, kCuEccUncorrectable = 214,
                     kCuNvlinkUncorrectable = 220, kCuContained = 226, kCuInvalidHandle = 400,
                     kCuNotFound = 500, kCuNotReady = 600, kCuIllegalAddress = 700,
                     kCuLaunchTimeout = 702, kCuAssert = 710, kCuHardwareStackError = 714,
                     kCuIllegalInstruction = 715, kCuMisalignedAddress = 716,
                     kCuInvalidAddressSpace = 717, kCuInvalidPc = 718, kCuLaunchFailed = 719,
                     kCuCaptureUnsupported = 900,
                     kCuCaptureInvalidated = 901, kCuUnknown = 999;

// CUdevice_attribute.
inline constexpr int kCuMultiprocessorCount = 16, kCuEccEnabled = 32, kCuMajor = 75, kCuMinor = 76;
// CU_STREAM_NON_BLOCKING: nothing to do with the legacy stream, which is not used.
inline constexpr unsigned kCuStreamNonBlocking = 1;
// CU_EVENT_DISABLE_TIMING: cheaper.
inline constexpr unsigned kCuEventDisableTiming = 2;
// CU_EVENT_RECORD_EXTERNAL, CU_EVENT_WAIT_EXTERNAL: in a capture, each launch of the graph does it.
inline constexpr unsigned kCuEventExternal = 1;
// CU_MEMHOSTALLOC_PORTABLE: pinned for all contexts.
inline constexpr unsigned kCuHostPortable = 1;
// CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: what other threads do meanwhile is no matter of the capture.
inline constexpr int kCuCaptureThreadLocal = 1;

struct DriverApi {
  // Of the whole driver.
  int (*DriverGetVersion)(int* version);
  int (*GetErrorName)(int result, const char** text);
  int (*GetErrorString)(int result, const char** text);
  int (*Init)(unsigned flags);
  // Of devices.
  int (*DeviceGetCount)(int* count);
  int (*DeviceGet)(int* device, int index);
  int (*DeviceGetName)(char* name, int bytes, int device);
  int (*DeviceGetUuid)(CuUuid* uuid, int device);
  int (*DeviceGetAttribute)(int* value, int attribute, int device);
  int (*DeviceTotalMem)(size_t* bytes, int device);
  int (*DevicePrimaryCtxRetain)(CuContext* context, int device);
  int (*DevicePrimaryCtxRelease)(int device);
  int (*CtxSetCurrent)(CuContext context);
  // Of memory, in the context that is current.
  int (*MemGetInfo)(size_t* free, size_t* total);
  int (*MemAlloc)(CuPointer* memory, size_t bytes);
  int (*MemFree)(CuPointer memory);
  int (*MemHostAlloc)(void** memory, size_t bytes, unsigned flags);
  int (*MemFreeHost)(void* memory);
  int (*MemcpyAsync)(CuPointer to, CuPointer from, size_t bytes, CuStream stream);
  int (*MemsetD8Async)(CuPointer to, unsigned char value, size_t bytes, CuStream stream);
  // Of streams and events.
  int (*StreamCreate)(CuStream* stream, unsigned flags);
  int (*StreamDestroy)(CuStream stream);
  int (*StreamSynchronize)(CuStream stream);
  int (*StreamWaitEvent)(CuStream stream, CuEvent event, unsigned flags);
  int (*EventCreate)(CuEvent* event, unsigned flags);
  int (*EventDestroy)(CuEvent event);
  int (*EventRecordWithFlags)(CuEvent event, CuStream stream, unsigned flags);
  int (*EventSynchronize)(CuEvent event);
  // kCuNotReady before it has passed.
  int (*EventQuery)(CuEvent event);
  int (*EventElapsedTime)(float* milliseconds, CuEvent earlier, CuEvent later);
  // Of captures, and of what they become.
  int (*StreamBeginCapture)(CuStream stream, int mode);
  int (*StreamEndCapture)(CuStream stream, CuGraph* graph);
  int (*GraphInstantiateWithFlags)(CuGraphExec* exec, CuGraph graph, unsigned long long flags);
  int (*GraphDestroy)(CuGraph graph);
  int (*GraphLaunch)(CuGraphExec exec, CuStream stream);
  int (*GraphExecDestroy)(CuGraphExec exec);
  // Of kernels, which belong to no context.
  int (*LibraryLoadData)(CuLibrary* library, const void* code, int* jit_options,
                         void** jit_values, unsigned jit_count, int* options, void** values,
                         unsigned count);
  int (*LibraryUnload)(CuLibrary library);
  int (*LibraryGetKernel)(CuKernel* kernel, CuLibrary library, const char* name);
  int (*LaunchKernel)(CuKernel kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z,
                      unsigned shared_bytes, CuStream stream, void** params, void** extra);
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_DRIVER_API_H_
