// Where the compiler's instrumentation of kernels leads to.
//
// Threads: that of the run. Errors: what is wrong ends the run.

#ifndef TRAINER_CUDA_EMULATE_WATCH_H_
#define TRAINER_CUDA_EMULATE_WATCH_H_

#include <cstddef>

namespace taas::cuda::emulate {

// By the thread that runs; nothing outside of a run.
void OnAccess(const void* address, size_t bytes, bool writes);
// By an instruction that a GPU has for aligned addresses only.
void OnMisaligned(const void* address, size_t bytes);

}  // namespace taas::cuda::emulate

#endif  // TRAINER_CUDA_EMULATE_WATCH_H_
