// A device as unlike the host as a GPU, on the processor: the kernels are the CPU's, but nobody
// else may touch its memory, which is closed (PROT_NONE) outside of kernels and copies; kernels get
// no other memory; steps are recorded programs; and what is launched runs late, in any order that
// streams and events leave open: some of it at any call that waits, the rest when it must. Whoever
// looks past a TensorRef ends with a signal here, unless another thread computes at that moment;
// whoever does not wait finds old numbers.
//
// Ownership: as device.h. Threads: as device.h; one thread computes at a time. Errors: those of
// kernels, at Synchronize; what a stream has after one is dropped.
//
//   auto session = Session::Compile(FarRuntime(), graph, {.loss = "loss"});

#ifndef TRAINER_TESTING_FAR_DEVICE_H_
#define TRAINER_TESTING_FAR_DEVICE_H_

#include "trainer/graph/runtime.h"

namespace taas {

// One such device, which lives as long as the process. Its type is "CPU".
Device& FarDevice();
Runtime FarRuntime();

}  // namespace taas

#endif  // TRAINER_TESTING_FAR_DEVICE_H_
