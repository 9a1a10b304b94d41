// What the sessions of a process compute with: devices of one type, and the kernels of that type.
//
// Nodes name devices by number: "/device:GPU:1" is devices[1] of a runtime of GPUs. Several may be
// one and the same object: virtual ones, as TensorFlow has of processors, with one memory. A
// session lies and runs on one object.
//
// Ownership: borrows all, which outlives all sessions. Threads: a value; devices, kernels and means
// are those of device.h, kernel_registry.h and collective.h. Errors: a factory's.
//
//   ASSIGN_OR_RETURN(auto session, Session::Compile(CpuRuntime(), graph, {.loss = "loss"}));

#ifndef TRAINER_GRAPH_RUNTIME_H_
#define TRAINER_GRAPH_RUNTIME_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/graph/collective.h"
#include "trainer/graph/device.h"
#include "trainer/graph/kernel_registry.h"

namespace taas {

struct Runtime {
  std::vector<Device*> devices;  // At least one, all of one type.
  const KernelRegistry& kernels;
  Collective* collective = nullptr;  // Of all devices, each a rank; null: there is none.

  std::string_view type() const { return devices.front()->type(); }
  // The first device as so many virtual ones.
  Runtime Virtual(size_t count) const { return {std::vector<Device*>(count, devices[0]), kernels}; }
};

// A kernel of no graph's node, with the scratch memory that it asks for. It stays where it is while
// a stream has it to run.
struct LoneKernel {
  Kernel kernel;
  Buffer scratch;  // Of the runtime's first device; of no byte where it needs none.

  absl::Status Launch(Stream& stream, KernelCall call) const {
    call.scratch = scratch.data();
    call.stream = &stream;
    return stream.Launch(kernel, call);
  }
};

// For float32. Unimplemented if there is none; ResourceExhausted.
absl::StatusOr<LoneKernel> MakeKernel(const Runtime& runtime, std::string_view op,
                                      const KernelSpec& spec);

}  // namespace taas

#endif  // TRAINER_GRAPH_RUNTIME_H_
