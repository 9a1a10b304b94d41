// On which device of this process an op runs: what its node asks for, checked against what there
// is.
//
// A node may name a device by any part of "/job:worker/replica:0/task:1/device:GPU:0"; what it
// leaves out is this process's. Soft placement is TensorFlow's allow_soft_placement: an op whose
// device is not there runs on the session's, and a line is logged. It never moves an op to another
// process: a job or task that is not this one is refused in both cases.
//
// Ownership: borrows the runtime. Threads: any. Errors: InvalidArgument, naming the op, the device
// that it asks for and those that exist.
//
//   ASSIGN_OR_RETURN(DeviceName device, PlaceNode(node, DType::kFloat32, {.runtime = runtime}));
//   device.ToString();  // "/job:localhost/replica:0/task:0/device:CPU:0"

#ifndef TRAINER_GRAPH_PLACEMENT_H_
#define TRAINER_GRAPH_PLACEMENT_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "trainer/graph/device_name.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/runtime.h"

namespace taas {

struct Placement {
  // Who this process is.
  std::string job = "localhost";
  int task = 0;
  // The session's, and that of nodes that name none; "" is the first device.
  std::string device;
  bool soft = false;
  const Runtime& runtime;

  // Which of the runtime's devices `device` names. Of one that is not there the first: nodes that
  // name none are refused, or, with soft placement, are there.
  size_t own() const;

  // "/job:localhost/replica:0/task:0/device:CPU:0, …", for messages.
  std::string Devices() const;
  // The first lines of TensorFlow's log_device_placement: which hardware each device is.
  std::string DeviceMapping() const;
  // "/job:localhost/replica:0/task:0/device:CPU:0" of devices[i].
  std::string NameOfDevice(size_t i) const;
};

// Every part of the answer is given. `dtype` is that of the op's first input; nothing of leaves and
// views, which have no kernel and lie on any device that is there.
absl::StatusOr<DeviceName> PlaceNode(const Node& node, std::optional<DType> dtype,
                                     const Placement& placement);

}  // namespace taas

#endif  // TRAINER_GRAPH_PLACEMENT_H_
