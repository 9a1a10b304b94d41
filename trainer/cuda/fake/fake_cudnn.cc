// Stands for cuDNN on machines without it: descriptors, as its backend has them, whose attributes
// must be of the type and the count that they have, set before and asked after they are finalized,
// and refer to what is there and finalized; engines (fake_cudnn_work.h), some of which nobody
// should take; and convolutions and attentions in the streams of the driver that stands for
// NVIDIA's, late, with the pointers that they were given, and the scalars of that time. It refuses
// a handle or a plan that is made in a capture, a stream of another device, two threads in one
// handle, and pointers that are not aligned; a plan that has gone before it runs fails as a kernel
// does, and its workspace holds nothing that it left there.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "trainer/cuda/cudnn_api.h"
#include "trainer/cuda/fake/fake_control.h"
#include "trainer/cuda/fake/fake_cudnn_descriptors.h"
#include "trainer/cuda/fake/fake_cudnn_work.h"
#include "trainer/cuda/fake/fake_machine.h"

namespace taas::cuda::fake {
namespace {

using enum CudnnAttribute;

// What a launch was given: a pointer for each of the work's tensors, and numbers in their place.
struct Given {
  std::vector<void*> memory;
  std::vector<float> scalars;  // Of those that are by value.
};

int Run(const Ready& plan, int device, const Given& given, void* workspace) {
  if (plan.gone) return kCuIllegalAddress;
  const auto contains = FAKE_DRIVER(FakeCudaContains);
  const std::vector<FakeTensor> tensors = plan.work->tensors();
  std::vector<void*> memory = given.memory;
  std::vector<float> scalars = given.scalars;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].by_value) {
      memory[i] = &scalars[i];
    } else if (!contains(device, memory[i], static_cast<size_t>(tensors[i].bytes()))) {
      return kCuIllegalAddress;
    }
  }
  const auto bytes = static_cast<size_t>(plan.work->EngineOf(plan.engine).workspace);
  if (bytes > 0 && !contains(device, workspace, bytes)) return kCuIllegalAddress;
  for (size_t i = 0; i < tensors.size(); ++i) {
    // Workspace is that of no tensor.
    const auto* const from = static_cast<const std::byte*>(memory[i]);
    const auto* const to = static_cast<const std::byte*>(workspace);
    if (from < to + bytes && to < from + tensors[i].bytes()) return kCuIllegalAddress;
  }
  // First of all: whoever keeps something else there finds no numbers.
  if (bytes > 0) std::memset(workspace, 0xff, bytes);
  plan.work->Compute(plan.engine, memory);
  return kCuSuccess;
}

// The pointers of a pack in the order of a plan's tensors.
int Pointers(const Descriptor& pack, const FakeWork& work, Given* given) {
  const auto count = static_cast<size_t>(pack.values.at(kPackIds).count);
  std::vector<int64_t> ids(count);
  for (size_t i = 0; i < count; ++i) ids[i] = One<int64_t>(pack, kPackIds, i);
  const std::vector<FakeTensor> tensors = work.tensors();
  if (count != tensors.size()) return Say(kCudnnBadParam, "pointers of other tensors");
  for (const FakeTensor& tensor : tensors) {
    const auto found = std::ranges::find(ids, tensor.id);
    if (found == ids.end()) return Say(kCudnnBadParam, "no pointer of a tensor");
    void* const at = One<void*>(pack, kPackPointers, static_cast<size_t>(found - ids.begin()));
    if (at == nullptr) return Say(kCudnnNullPointer, "tensor");
    given->memory.push_back(at);
    given->scalars.push_back(tensor.by_value ? *static_cast<const float*>(at) : 0);
    if (tensor.by_value) continue;
    if (reinterpret_cast<uintptr_t>(at) % static_cast<uintptr_t>(tensor.alignment) != 0) {
      return Say(kCudnnMisaligned, "tensor");
    }
  }
  return kCudnnSuccess;
}

// While a thread is in a handle.
class Inside {
 public:
  explicit Inside(Handle& handle) : handle_(handle), alone_(!handle.busy.test_and_set()) {}
  ~Inside() {
    if (alone_) handle_.busy.clear();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  bool alone() const { return alone_; }

 private:
  Handle& handle_;
  const bool alone_;
};

Handle* FindHandle(const void* handle) {
  const std::lock_guard lock(Its().mutex);
  const auto found = Its().handles.find(handle);
  return found == Its().handles.end() ? nullptr : found->second.get();
}

}  // namespace

extern "C" {

size_t cudnnGetVersion() { return static_cast<size_t>(ReadMachine().cudnn); }

const char* cudnnGetErrorString(int status) {
  return status == kCudnnLoadingFailed  ? "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED"
         : status == kCudnnNotSupported ? "CUDNN_STATUS_NOT_SUPPORTED"
                                        : "CUDNN_STATUS_OF_ANOTHER_KIND";
}

void cudnnGetLastErrorString(char* message, size_t bytes_max) {
  if (bytes_max == 0) return;
  const std::string last = LastError();
  const size_t bytes = std::min(bytes_max - 1, last.size());
  std::memcpy(message, last.data(), bytes);
  message[bytes] = '\0';
}

int cudnnCreate(void** handle) {
  if (const int status = Asked("cudnnCreate")) return status;
  auto made = std::make_unique<Handle>();
  made->device = FAKE_DRIVER(FakeCudaDevice)();
  if (made->device < 0 || FAKE_DRIVER(FakeCudaForbidden)() != kCuSuccess) {
    return Say(kCudnnExecutionFailed, "no context, or in a capture");
  }
  *handle = made.get();
  const std::lock_guard lock(Its().mutex);
  Its().handles[made.get()] = std::move(made);
  FAKE_DRIVER(FakeCudaHold)(1, 0);
  return kCudnnSuccess;
}

int cudnnDestroy(void* handle) {
  const std::lock_guard lock(Its().mutex);
  if (Its().handles.erase(handle) == 0) return Say(kCudnnBadParam, "handle");
  FAKE_DRIVER(FakeCudaHold)(-1, 0);
  return kCudnnSuccess;
}

int cudnnSetStream(void* handle, CuStream stream) {
  if (const int status = Asked("cudnnSetStream")) return status;
  Handle* const its = FindHandle(handle);
  if (its == nullptr) return Say(kCudnnBadParam, "handle");
  const Inside inside(*its);
  if (!inside.alone()) return Say(kCudnnInternal, "two threads in a handle");
  if (FAKE_DRIVER(FakeCudaDeviceOf)(stream) != its->device) {
    return Say(kCudnnStreamMismatch, "a stream of another device");
  }
  its->stream = stream;
  return kCudnnSuccess;
}

int cudnnBackendCreateDescriptor(int type, void** descriptor) {
  if (const int status = Asked("cudnnBackendCreateDescriptor")) return status;
  auto made = std::make_unique<Descriptor>();
  made->type = static_cast<CudnnType>(type);
  *descriptor = made.get();
  const std::lock_guard lock(Its().mutex);
  Its().descriptors[made.get()] = std::move(made);
  FAKE_DRIVER(FakeCudaHold)(0, 1);
  return kCudnnSuccess;
}

int cudnnBackendDestroyDescriptor(void* descriptor) {
  const std::lock_guard lock(Its().mutex);
  if (Its().descriptors.erase(descriptor) == 0) return Say(kCudnnBadParam, "descriptor");
  FAKE_DRIVER(FakeCudaHold)(0, -1);
  return kCudnnSuccess;
}

int cudnnBackendSetAttribute(void* descriptor, int attribute, int type, int64_t count,
                             const void* elements) {
  if (const int status = Asked("cudnnBackendSetAttribute")) return status;
  const std::lock_guard lock(Its().mutex);
  Descriptor* const its = Find(descriptor);
  if (its == nullptr || its->finalized) return Say(kCudnnBadParam, "descriptor");
  if (elements == nullptr) return Say(kCudnnNullPointer, "elements");
  return Set(*its, attribute, type, count, elements);
}

int cudnnBackendGetAttribute(void* descriptor, int attribute, int type, int64_t count,
                             int64_t* got, void* elements) {
  if (const int status = Asked("cudnnBackendGetAttribute")) return status;
  const std::lock_guard lock(Its().mutex);
  const Descriptor* const its = Find(descriptor);
  if (its == nullptr || !its->finalized) return Say(kCudnnNotFinalized, "descriptor");
  if (got == nullptr || (elements == nullptr && count > 0)) return kCudnnNullPointer;
  return Get(*its, static_cast<CudnnAttribute>(attribute), type, count, got, elements);
}

int cudnnBackendFinalize(void* descriptor) {
  if (const int status = Asked("cudnnBackendFinalize")) return status;
  const std::lock_guard lock(Its().mutex);
  Descriptor* const its = Find(descriptor);
  if (its == nullptr || its->finalized) return Say(kCudnnBadParam, "descriptor");
  const int status = Finalize(*its);
  its->finalized = status == kCudnnSuccess;
  return status;
}

int cudnnBackendExecute(void* handle, void* plan, void* pack) {
  if (const int status = Asked("cudnnBackendExecute")) return status;
  Handle* const its = FindHandle(handle);
  if (its == nullptr) return Say(kCudnnBadParam, "handle");
  const Inside inside(*its);
  if (!inside.alone()) return Say(kCudnnInternal, "two threads in a handle");
  std::shared_ptr<const Ready> ready;
  Given given;
  void* workspace = nullptr;
  {
    const std::lock_guard lock(Its().mutex);
    const Descriptor* const of = Find(plan);
    const Descriptor* const with = Find(pack);
    for (const Descriptor* const one : {of, with}) {
      if (one == nullptr || !one->finalized) return Say(kCudnnNotFinalized, "plan or pack");
    }
    if (of->plan == nullptr || of->plan->handle != its) return Say(kCudnnBadParam, "plan");
    if (const int status = Pointers(*with, *of->plan->work, &given)) return status;
    workspace = One<void*>(*with, kPackWorkspace);
    ready = of->plan;
  }
  const int launched = FAKE_DRIVER(FakeCudaLaunch)(
      its->stream, [ready, device = its->device, given, workspace] {
        return Run(*ready, device, given, workspace);
      });
  return launched == kCuSuccess ? kCudnnSuccess : Say(kCudnnExecutionFailed, "launch");
}

}  // extern "C"

}  // namespace taas::cuda::fake
