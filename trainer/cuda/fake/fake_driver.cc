// The driver that stands for NVIDIA's, as far as it computes: contexts, memory, streams, graphs,
// and the kernels of this tree, which run on the processor (trainer/cuda/emulate). Devices are in
// fake_cuda.cc. It refuses what the real one refuses: calls of a thread without a context, or with
// another than its stream's, or that captures; memory that is not of the device, or not as long.

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "trainer/cuda/driver_api.h"
#include "trainer/cuda/emulate/emulator.h"
#include "trainer/cuda/fake/fake_control.h"
#include "trainer/cuda/fake/fake_machine.h"
#include "trainer/cuda/fake/fake_memory.h"
#include "trainer/cuda/fake/fake_streams.h"
#include "trainer/kernels/cuda/testing/emulated_functions.h"

namespace taas::cuda::fake {
namespace {

// What an image begins with: a fatbin, or a test's word.
constexpr uint32_t kFatbin = 0xba55ed50, kTestImage = 0x73736974;
constexpr size_t kParamsBytesMax = 4096;
constexpr std::align_val_t kPinnedAlignment{256};

struct Calls {
  int made = 0;
  int fail_at = 0, result = 0;
};

// All of it is of the process, as the driver's is.
struct State {
  FakeMemory memory;
  FakeStreams streams{memory};
  emulate::Emulator emulator{/*watched=*/false};
  std::mutex mutex;
  std::map<std::string, Calls, std::less<>> calls;
  std::map<void*, size_t> pinned;
  std::map<int, int> contexts;  // How often each device's is retained.
  size_t libraries = 0;
  size_t communicators = 0;
  size_t handles = 0, descriptors = 0;
};

State& Its() {
  static State* const kState = std::make_unique<State>().release();
  return *kState;
}

thread_local CuContext current = nullptr;

// Of the current context, which is there.
int Device() { return static_cast<int>(reinterpret_cast<uintptr_t>(current)) - 1; }

// What a test has asked of this call.
int Count(const char* function) {
  State& its = Its();
  const std::lock_guard lock(its.mutex);
  Calls& calls = its.calls[function];
  ++calls.made;
  return calls.made == calls.fail_at ? calls.result : kCuSuccess;
}

enum class Needs { kNothing, kContext, kNoCapture };

int Begin(const char* function, Needs needs = Needs::kContext) {
  if (const int result = Count(function); result != kCuSuccess) return result;
  if (needs == Needs::kNothing) return kCuSuccess;
  if (current == nullptr) return kCuInvalidContext;
  if (needs == Needs::kNoCapture) {
    if (const int result = Its().streams.Forbidden(); result != kCuSuccess) return result;
  }
  return Its().streams.failed(Device());
}

FakeStream* Of(CuStream stream) { return reinterpret_cast<FakeStream*>(stream); }
// As Begin, of what is launched into a stream.
int BeginIn(CuStream stream, const char* function) {
  if (const int result = Begin(function); result != kCuSuccess) return result;
  const int device = Its().streams.DeviceOf(Of(stream));
  return device < 0 ? kCuInvalidHandle : device == Device() ? kCuSuccess : kCuInvalidContext;
}

FakeEvent* Of(CuEvent event) { return reinterpret_cast<FakeEvent*>(event); }
FakeGraph* Of(CuGraph graph) { return reinterpret_cast<FakeGraph*>(graph); }
FakeGraph* Of(CuGraphExec graph) { return reinterpret_cast<FakeGraph*>(graph); }

bool IsThere(uint64_t address, size_t bytes) {
  FakeMemory& memory = Its().memory;
  return memory.DeviceOf(address, bytes) != FakeMemory::kNone || !memory.Touches(address, bytes);
}

void* At(uint64_t address) { return reinterpret_cast<void*>(address); }

int RunKernel(int device, int kernel, const emulate::Launch& launch,
              const std::vector<char>& params) {
  int wanted = Count(("kernel@" + std::to_string(device)).c_str());
  if (const int any = Count("kernel"); any != kCuSuccess) wanted = any;
  if (wanted != kCuSuccess && wanted != kFlipsABit) return wanted;
  const absl::Status status =
      Its().emulator.Run(launch, [&] { kEmulatedFunctions[kernel](params.data()); });
  if (wanted == kFlipsABit) Its().memory.of(device).FlipBits();
  if (status.ok()) return kCuSuccess;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return kCuLaunchFailed;
}

int NumberOf(const char* name) {
  for (int i = 0; i < kKernelsCount; ++i) {
    if (std::strcmp(kKernels[i].name, name) == 0) return i;
  }
  return -1;
}

}  // namespace

extern "C" {

void FakeCudaFailAt(const char* function, int nth, int result) {
  State& its = Its();
  if (nth == 0) its.streams.Forget();
  const std::lock_guard lock(its.mutex);
  its.calls[function] = {.made = 0, .fail_at = nth, .result = result};
}

int FakeCudaCalls(const char* function) {
  State& its = Its();
  const std::lock_guard lock(its.mutex);
  return its.calls[function].made;
}

FakeCudaLeft FakeCudaWhatIsLeft() {
  State& its = Its();
  // Before the lock, which what streams run takes.
  const size_t streams = its.streams.streams(), events = its.streams.events();
  const size_t graphs = its.streams.graphs();
  const std::lock_guard lock(its.mutex);
  return {its.memory.count(), its.pinned.size(),     streams,           events, graphs,
          its.libraries,      its.contexts.size(), its.communicators, its.handles,
          its.descriptors};
}

int FakeCudaLaunch(CuStream stream, std::function<int()> work) {
  if (const int result = BeginIn(stream, "FakeCudaLaunch")) return result;
  return Its().streams.Launch(Of(stream), [work = std::move(work), device = Device()] {
    const int wanted = Count("library");
    if (wanted != kCuSuccess && wanted != kFlipsABit) return wanted;
    const int result = work();
    if (wanted == kFlipsABit) Its().memory.of(device).FlipBits();
    return result;
  });
}

int FakeCudaCount(const char* function) { return Count(function); }
int FakeCudaDevice() { return Device(); }
int FakeCudaDeviceOf(CuStream stream) { return Its().streams.DeviceOf(Of(stream)); }
int FakeCudaForbidden() { return Its().streams.Forbidden(); }

bool FakeCudaContains(int device, const void* memory, size_t bytes) {
  return Its().memory.of(device).Contains(reinterpret_cast<uint64_t>(memory), bytes);
}

int FakeCudaMeet(CuStream stream, std::function<int()> work) {
  return Its().streams.Launch(Of(stream), [work = std::move(work)] {
    return Its().memory.With(FakeMemory::kAll, work);
  });
}

void FakeCudaWake(int communicators) {
  State& its = Its();
  {
    const std::lock_guard lock(its.mutex);
    its.communicators += static_cast<size_t>(communicators);
  }
  its.streams.Wake();
}

void FakeCudaHold(int handles, int descriptors) {
  State& its = Its();
  const std::lock_guard lock(its.mutex);
  its.handles += static_cast<size_t>(handles);
  its.descriptors += static_cast<size_t>(descriptors);
}

int cuDeviceTotalMem_v2(size_t* bytes, int device);

int cuDevicePrimaryCtxRetain(CuContext* context, int device) {
  if (const int result = Begin("cuDevicePrimaryCtxRetain", Needs::kNothing)) return result;
  size_t bytes = 0;
  if (const int result = cuDeviceTotalMem_v2(&bytes, device)) return result;
  State& its = Its();
  its.memory.of(device).SetLimit(bytes);
  std::unique_lock lock(its.mutex);
  if (its.contexts.empty()) {
    lock.unlock();
    // Of programs that no test can call.
    for (const FakeFailure& failure : ReadMachine().failures) {
      FakeCudaFailAt(failure.function.c_str(), failure.nth, failure.result);
    }
    lock.lock();
  }
  ++its.contexts[device];
  *context = reinterpret_cast<CuContext>(static_cast<uintptr_t>(device) + 1);
  return kCuSuccess;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  State& its = Its();
  const std::lock_guard lock(its.mutex);
  if (its.contexts.count(device) == 0) return kCuInvalidContext;
  if (--its.contexts[device] == 0) its.contexts.erase(device);
  return kCuSuccess;
}

int cuCtxSetCurrent(CuContext context) {
  if (const int result = Begin("cuCtxSetCurrent", Needs::kNothing)) return result;
  current = context;
  return kCuSuccess;
}

int cuMemGetInfo_v2(size_t* free, size_t* total) {
  if (const int result = Begin("cuMemGetInfo")) return result;
  ClosedMemory& memory = Its().memory.of(Device());
  *total = memory.limit();
  *free = *total - memory.bytes();
  return kCuSuccess;
}

int cuMemAlloc_v2(CuPointer* memory, size_t bytes) {
  if (const int result = Begin("cuMemAlloc", Needs::kNoCapture)) return result;
  if (bytes == 0) return kCuInvalidValue;
  *memory = Its().memory.of(Device()).Allocate(bytes);
  return *memory == 0 ? kCuOutOfMemory : kCuSuccess;
}

int cuMemFree_v2(CuPointer memory) {
  // Waits for all that the device does.
  return Its().memory.Free(memory) ? kCuSuccess : kCuInvalidValue;
}

int cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  if (const int result = Begin("cuMemHostAlloc", Needs::kNoCapture)) return result;
  State& its = Its();
  *memory = ::operator new(bytes, kPinnedAlignment);
  const std::lock_guard lock(its.mutex);
  its.pinned[*memory] = bytes;
  return kCuSuccess;
}

int cuMemFreeHost(void* memory) {
  State& its = Its();
  const std::lock_guard lock(its.mutex);
  if (its.pinned.erase(memory) == 0) return kCuInvalidValue;
  ::operator delete(memory, kPinnedAlignment);
  return kCuSuccess;
}

int cuMemcpyAsync(CuPointer to, CuPointer from, size_t bytes, CuStream stream) {
  if (const int result = BeginIn(stream, "cuMemcpyAsync")) return result;
  if (!IsThere(to, bytes) || !IsThere(from, bytes)) return kCuInvalidValue;
  return Its().streams.Launch(Of(stream), [=, device = Device()] {
    if (const int result = Count("copy"); result != kCuSuccess) return result;
    if (!IsThere(to, bytes) || !IsThere(from, bytes)) return kCuIllegalAddress;
    const auto is_near = [&](CuPointer address) {
      const int its = Its().memory.DeviceOf(address, bytes);
      return its == device || its == FakeMemory::kNone;
    };
    // Also from device to device, which the driver does by itself.
    const int open = is_near(to) && is_near(from) ? device : FakeMemory::kAll;
    return Its().memory.With(open, [&] {
      std::memcpy(At(to), At(from), bytes);
      return kCuSuccess;
    });
  });
}

int cuMemsetD8Async(CuPointer to, unsigned char value, size_t bytes, CuStream stream) {
  if (const int result = BeginIn(stream, "cuMemsetD8Async")) return result;
  if (!Its().memory.of(Device()).Contains(to, bytes)) return kCuInvalidValue;
  return Its().streams.Launch(Of(stream), [=] {
    if (const int result = Count("clear"); result != kCuSuccess) return result;
    std::memset(At(to), value, bytes);
    return kCuSuccess;
  });
}

int cuStreamCreate(CuStream* stream, unsigned flags) {
  if (const int result = Begin("cuStreamCreate")) return result;
  if (flags != kCuStreamNonBlocking) return kCuInvalidValue;
  *stream = reinterpret_cast<CuStream>(Its().streams.MakeStream(Device()));
  return kCuSuccess;
}

int cuStreamDestroy_v2(CuStream stream) { return Its().streams.DestroyStream(Of(stream)); }

int cuStreamSynchronize(CuStream stream) {
  if (const int result = BeginIn(stream, "cuStreamSynchronize")) return result;
  return Its().streams.SynchronizeStream(Of(stream));
}

int cuStreamWaitEvent(CuStream stream, CuEvent event, unsigned flags) {
  if (const int result = BeginIn(stream, "cuStreamWaitEvent")) return result;
  return Its().streams.Wait(Of(stream), Of(event), flags == kCuEventExternal);
}

int cuEventCreate(CuEvent* event, unsigned flags) {
  if (const int result = Begin("cuEventCreate")) return result;
  const bool timed = (flags & kCuEventDisableTiming) == 0;
  *event = reinterpret_cast<CuEvent>(Its().streams.MakeEvent(Device(), timed));
  return kCuSuccess;
}

int cuEventDestroy_v2(CuEvent event) { return Its().streams.DestroyEvent(Of(event)); }

int cuEventRecordWithFlags(CuEvent event, CuStream stream, unsigned flags) {
  if (const int result = BeginIn(stream, "cuEventRecord")) return result;
  return Its().streams.Record(Of(event), Of(stream), flags == kCuEventExternal);
}

int cuEventSynchronize(CuEvent event) {
  if (const int result = Begin("cuEventSynchronize", Needs::kNoCapture)) return result;
  return Its().streams.SynchronizeEvent(Of(event));
}

int cuEventQuery(CuEvent event) {
  if (const int result = Begin("cuEventQuery", Needs::kNoCapture)) return result;
  return Its().streams.QueryEvent(Of(event));
}

int cuEventElapsedTime_v2(float* milliseconds, CuEvent earlier, CuEvent later) {
  if (const int result = Begin("cuEventElapsedTime")) return result;
  return Its().streams.Elapsed(Of(earlier), Of(later), milliseconds);
}

int cuStreamBeginCapture_v2(CuStream stream, int) {
  if (const int result = BeginIn(stream, "cuStreamBeginCapture")) return result;
  return Its().streams.BeginCapture(Of(stream));
}

int cuStreamEndCapture(CuStream stream, CuGraph* graph) {
  const int result = Begin("cuStreamEndCapture");
  FakeGraph* made = nullptr;
  const int ended = Its().streams.EndCapture(Of(stream), &made);
  *graph = reinterpret_cast<CuGraph>(made);
  return result != kCuSuccess ? result : ended;
}

int cuGraphInstantiateWithFlags(CuGraphExec* exec, CuGraph graph, unsigned long long) {
  if (const int result = Begin("cuGraphInstantiate")) return result;
  *exec = reinterpret_cast<CuGraphExec>(Its().streams.Instantiate(Of(graph)));
  return *exec == nullptr ? kCuInvalidHandle : kCuSuccess;
}

int cuGraphDestroy(CuGraph graph) { return Its().streams.DestroyGraph(Of(graph)); }
int cuGraphExecDestroy(CuGraphExec exec) { return Its().streams.DestroyGraph(Of(exec)); }

int cuGraphLaunch(CuGraphExec exec, CuStream stream) {
  if (const int result = BeginIn(stream, "cuGraphLaunch")) return result;
  return Its().streams.LaunchGraph(Of(exec), Of(stream));
}

int cuLibraryLoadData(CuLibrary* library, const void* code, int*, void**, unsigned, int*, void**,
                      unsigned) {
  if (const int result = Begin("cuLibraryLoadData", Needs::kNothing)) return result;
  uint32_t magic = 0;
  std::memcpy(&magic, code, sizeof(magic));
  if (magic != kFatbin && magic != kTestImage) return 200;  // CUDA_ERROR_INVALID_IMAGE
  State& its = Its();
  const std::lock_guard lock(its.mutex);
  ++its.libraries;
  *library = reinterpret_cast<CuLibrary>(&its);
  return kCuSuccess;
}

int cuLibraryUnload(CuLibrary) {
  State& its = Its();
  const std::lock_guard lock(its.mutex);
  if (its.libraries == 0) return kCuInvalidHandle;
  --its.libraries;
  return kCuSuccess;
}

int cuLibraryGetKernel(CuKernel* kernel, CuLibrary, const char* name) {
  if (const int result = Begin("cuLibraryGetKernel", Needs::kNothing)) return result;
  const int number = NumberOf(name);
  if (number < 0) return kCuNotFound;
  *kernel = reinterpret_cast<CuKernel>(static_cast<uintptr_t>(number) + 1);
  return kCuSuccess;
}

int cuLaunchKernel(CuKernel kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   CuStream stream, void** params, void** extra) {
  if (const int result = BeginIn(stream, "cuLaunchKernel")) return result;
  const int number = static_cast<int>(reinterpret_cast<uintptr_t>(kernel)) - 1;
  if (number < 0 || number >= kKernelsCount) return kCuInvalidHandle;
  const size_t bytes = kKernels[number].params_bytes;
  if (bytes > kParamsBytesMax || shared_bytes != 0 || extra != nullptr || grid_x == 0) {
    return kCuInvalidValue;
  }
  const auto* const first = static_cast<const char*>(params[0]);
  // The arguments of now: what they are later does not matter to the driver.
  return Its().streams.Launch(
      Of(stream), [number, device = Device(), copy = std::vector<char>(first, first + bytes),
                   launch = emulate::Launch{.kernel = kKernels[number].name,
                                            .grid = {grid_x, grid_y, grid_z},
                                            .block = {block_x, block_y, block_z}}] {
        return RunKernel(device, number, launch, copy);
      });
}

}  // extern "C"

}  // namespace taas::cuda::fake
