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

// What has been made and is not destroyed.
struct FakeCudaLeft {
  size_t buffers, pinned, streams, events, graphs, libraries, contexts;
  bool operator==(const FakeCudaLeft&) const = default;
};

inline constexpr int kFlipsABit = -1;

extern "C" {
// The nth call of a function from now on (from 1) returns `result`, and does nothing. Of "kernel",
// "copy", "clear" and "library": the nth that runs. 0: none does any more; also what stays of an
// error goes. kFlipsABit: it runs, and then a bit in the middle of each buffer is another.
void FakeCudaFailAt(const char* function, int nth, int result);
// How often it was called since the program began, or the last FakeCudaFailAt of it.
int FakeCudaCalls(const char* function);
FakeCudaLeft FakeCudaWhatIsLeft();
// For the libraries that stand for NVIDIA's: what a kernel of theirs does, CUresult.
int FakeCudaLaunch(CuStream stream, std::function<int()> work);
}

}  // namespace taas::cuda::fake

#endif  // TRAINER_CUDA_FAKE_FAKE_CONTROL_H_
