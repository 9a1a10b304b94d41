// Descriptors of the cuDNN that stands for NVIDIA's: which attributes each type has, and what makes
// one wrong. The library's functions are in fake_cudnn.cc.
//
// Ownership: of the process, as the library's is. Threads: but for Say and Asked, whoever holds
// State::mutex. Errors: cudnnStatus_t, and a word of what was wrong for whoever asks.
//
//   Descriptor* const its = Find(descriptor);
//   const int status = Finalize(*its);

#ifndef TRAINER_CUDA_FAKE_FAKE_CUDNN_DESCRIPTORS_H_
#define TRAINER_CUDA_FAKE_FAKE_CUDNN_DESCRIPTORS_H_

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "trainer/cuda/cudnn_api.h"
#include "trainer/cuda/driver_api.h"
#include "trainer/cuda/fake/fake_control.h"
#include "trainer/cuda/fake/fake_cudnn_steps.h"
#include "trainer/cuda/fake/fake_cudnn_work.h"

namespace taas::cuda::fake {

struct Handle {
  int device = -1;
  CuStream stream = nullptr;
  std::atomic_flag busy;
};

// What a plan runs; those that were launched hold it too, and see when it goes.
struct Ready {
  std::shared_ptr<const FakeWork> work;
  int engine = 0;
  const Handle* handle = nullptr;
  std::atomic<bool> gone = false;
};

struct Value {
  int type = 0;
  int64_t count = 0;
  std::vector<std::byte> bytes{};
};

struct Descriptor {
  CudnnType type = CudnnType::kTensor;
  bool finalized = false;
  std::map<CudnnAttribute, Value> values{};
  // Of an operation, and of all that is made of some.
  std::shared_ptr<const FakeWork> work{};
  // Of an operation of which a graph may have several, and of such a graph.
  std::vector<FakeStep> steps{};
  int engine = 0;  // Of an engine, a configuration.
  std::shared_ptr<Ready> plan{};

  ~Descriptor() {
    if (plan != nullptr) plan->gone = true;
  }
};

struct State {
  std::mutex mutex;
  std::map<const void*, std::unique_ptr<Descriptor>> descriptors;
  std::map<const void*, std::unique_ptr<Handle>> handles;
};

State& Its();

// A function of the driver that stands for NVIDIA's.
template <typename Function>
Function* DriverFunction(const char* name) {
  return reinterpret_cast<Function*>(
      dlsym(dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY), name));
}
#define FAKE_DRIVER(function) DriverFunction<decltype(function)>(#function)

// Keeps the words for LastError.
int Say(int status, const std::string& what);
// Of this thread; once.
std::string LastError();
// What a test has asked of this call.
int Asked(const char* function);

// Null: there is none.
Descriptor* Find(const void* descriptor);
int Set(Descriptor& of, int attribute, int type, int64_t count, const void* elements);
int Finalize(Descriptor& of);
int Get(const Descriptor& of, CudnnAttribute attribute, int type, int64_t count, int64_t* got,
        void* elements);

// An element of an attribute; 0 where it was not set.
template <typename T>
T One(const Descriptor& of, CudnnAttribute attribute, size_t at = 0) {
  T value{};
  const auto found = of.values.find(attribute);
  if (found == of.values.end()) return value;
  std::memcpy(&value, found->second.bytes.data() + at * sizeof(T), sizeof(T));
  return value;
}

template <size_t count>
std::array<int64_t, count> Ints(const Descriptor& of, CudnnAttribute attribute) {
  std::array<int64_t, count> values{};
  for (size_t i = 0; i < count; ++i) values[i] = One<int64_t>(of, attribute, i);
  return values;
}

}  // namespace taas::cuda::fake

#endif  // TRAINER_CUDA_FAKE_FAKE_CUDNN_DESCRIPTORS_H_
