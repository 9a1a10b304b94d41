// Runs CUDA kernels on the processor, a thread at a time, and finds what a GPU would not tell:
// reads of what nobody wrote, races, accesses beside a buffer, barriers that some threads miss.
//
// The kernels are the ones that run on GPUs, compiled by the host's compiler (cuda_on_host.h), with
// the compiler's instrumentation for ThreadSanitizer, whose calls come here instead (watch.cc). A
// thread is a context of its own from where it first waits; others run meanwhile, in an order that
// is up to the test: a kernel that is right is right in all of them.
//
// Not emulated: how fast it is, the weak order of memory between blocks, tensor cores and whatever
// is inline PTX.
//
// Ownership: buffers borrow the emulator and go before it. Threads: one at a time, of one emulator
// in a process. Errors: InvalidArgument with what a thread has done, and where.
//
//   Emulator emulator;
//   DeviceBuffer<float> y(emulator, "y", 1'000);
//   RETURN_IF_ERROR(emulator.Run({.kernel = "Fill", .grid = {4}, .block = {256}},
//                                [&] { FillKernel({y.data(), 1'000, 2.5f}); }));

#ifndef TRAINER_CUDA_EMULATE_EMULATOR_H_
#define TRAINER_CUDA_EMULATE_EMULATOR_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "trainer/cuda/emulate/cuda_on_host.h"
#include "trainer/cuda/emulate/memory_watch.h"

namespace taas::cuda::emulate {

// In which the threads of a block, and the blocks, get their turns.
enum class Order { kAscending, kDescending, kSeeded };

struct Launch {
  std::string kernel;  // For messages.
  Index grid{1, 1, 1}, block{1, 1, 1};
  Order order = Order::kAscending;
  uint64_t seed = 0;  // Of kSeeded.
};

// Of a run: what a table of a kernel's costs holds.
struct Counts {
  int64_t barriers = 0;  // Of blocks, all of them.
  int64_t read_bytes = 0, written_bytes = 0;  // Of buffers and shared memory.

  bool operator==(const Counts&) const = default;
};

class Emulator {
 public:
  // As GPUs have it (CUDA C++ Programming Guide, compute capabilities).
  static constexpr unsigned kThreadsMax = 1'024, kBlockZMax = 64;
  static constexpr unsigned kGridXMax = 0x7fffffff, kGridYzMax = 65'535;

  // Unwatched, for kernels that were compiled so, it only runs them.
  explicit Emulator(bool watched = true);
  ~Emulator();
  Emulator(const Emulator&) = delete;
  Emulator& operator=(const Emulator&) = delete;

  // `kernel` is called once for each thread of the grid.
  absl::Status Run(const Launch& launch, absl::FunctionRef<void()> kernel);
  const Counts& counts() const { return counts_; }
  MemoryWatch& memory() { return memory_; }

 private:
  std::vector<unsigned> InOrder(unsigned count, const Launch& launch, uint64_t salt) const;

  const bool watched_;
  MemoryWatch memory_;
  Counts counts_;
};

// Memory that kernels share, and the host only between runs. Nothing is written at first.
template <typename T>
class DeviceBuffer {
 public:
  DeviceBuffer(Emulator& emulator, std::string name, size_t count)
      : memory_(emulator.memory()),
        room_(count * sizeof(T) + 2 * kBesideBytes + kAlignment),
        data_(reinterpret_cast<T*>(Aligned(room_.data() + kBesideBytes))),
        count_(count) {
    memory_.Add(std::move(name), data_, count * sizeof(T), /*written=*/false, /*guarded=*/true);
  }
  DeviceBuffer(Emulator& emulator, std::string name, std::span<const T> from)
      : DeviceBuffer(emulator, std::move(name), from.size()) {
    std::ranges::copy(from, data_);
    memory_.SetWritten(data_, true);
  }
  ~DeviceBuffer() { memory_.Remove(data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  T* data() const { return data_; }
  // As the host reads it.
  std::vector<T> Read() const { return {data_, data_ + count_}; }
  // The first element that no kernel has written; -1 if all are.
  int64_t FirstUnwritten() const {
    const int64_t at = memory_.FirstUnwritten(data_);
    return at < 0 ? at : at / static_cast<int64_t>(sizeof(T));
  }

 private:
  // As a GPU's allocator gives it.
  static constexpr size_t kAlignment = 256;
  static char* Aligned(char* at) {
    return reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(at) + kAlignment - 1) /
                                   kAlignment * kAlignment);
  }

  MemoryWatch& memory_;
  std::vector<char> room_;
  T* const data_;
  const size_t count_;
};

}  // namespace taas::cuda::emulate

#endif  // TRAINER_CUDA_EMULATE_EMULATOR_H_
