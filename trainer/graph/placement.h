// On which device of this process an op runs: what its node asks for, checked against what there
// is.
//
// A node may name a device by any part of "/job:worker/replica:0/task:1/device:GPU:0"; what it
// leaves out is this process's. Soft placement is TensorFlow's allow_soft_placement: an op whose
// device is not there, or for which that device has no kernel, runs on the first CPU, and a line
// is logged. It never moves an op to another process: a job or task that is not this one is refused
// in both cases.
//
// Ownership: borrows the kernels. Threads: any. Errors: InvalidArgument, naming the op, the device
// that it asks for and those that exist.
//
//   ASSIGN_OR_RETURN(DeviceName device, PlaceNode(node, DType::kFloat32, {.kernels = kernels}));
//   device.ToString();  // "/job:localhost/replica:0/task:0/device:CPU:0"

#ifndef TRAINER_GRAPH_PLACEMENT_H_
#define TRAINER_GRAPH_PLACEMENT_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "trainer/graph/device_name.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/kernel_registry.h"

namespace taas {

struct Placement {
  // Who this process is.
  std::string job = "localhost";
  int task = 0;
  // Virtual ones, CPU:0 and on.
  int cpu_devices = 1;
  // Of nodes that name none; "" is the first CPU.
  std::string device;
  bool soft = false;
  const KernelRegistry& kernels;

  // "/job:localhost/replica:0/task:0/device:CPU:0, …", for messages.
  std::string Devices() const;
};

// Every part of the answer is given. `dtype` is that of the op's first input; nothing of leaves and
// views, which have no kernel and lie on any device that is there.
absl::StatusOr<DeviceName> PlaceNode(const Node& node, std::optional<DType> dtype,
                                     const Placement& placement);

}  // namespace taas

#endif  // TRAINER_GRAPH_PLACEMENT_H_
