// A device as unlike the host as a GPU, on the processor: the kernels are the CPU's, but nobody
// else may touch its memory, which is closed (PROT_NONE) outside of kernels and copies, and what is
// launched runs late, when somebody waits for it, and between streams in any order that events
// leave open. Whoever looks past a TensorRef ends with a signal here; whoever does not wait finds
// old numbers.
//
// Ownership: as device.h. Threads: as device.h; kernels of several streams run one after the other
// unless their threads wait at once. Errors: those of kernels, at Synchronize.
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
