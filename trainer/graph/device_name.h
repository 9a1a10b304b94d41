// Where an op runs, in TensorFlow's syntax.
//
// "/job:worker/replica:0/task:1/device:GPU:0", of which any part may be missing; "/gpu:0" and
// "/cpu:0" are the old spelling of a device; "" is the first device of any type.
//
// Ownership: value type. Threads: any. Errors: Parse returns InvalidArgument quoting the text.
//
//   ASSIGN_OR_RETURN(DeviceName device, DeviceName::Parse("/job:worker/task:1/device:GPU:0"));

#ifndef TRAINER_GRAPH_DEVICE_NAME_H_
#define TRAINER_GRAPH_DEVICE_NAME_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taas {

struct DeviceName {
  static constexpr int kAnyTask = -1;

  std::string job;           // "" = any.
  int task = kAnyTask;
  std::string type;          // In capitals; "" = any.
  int index = 0;

  static absl::StatusOr<DeviceName> Parse(std::string_view text);
  // "/job:worker/replica:0/task:1/device:GPU:0"; parts that are any are left out.
  std::string ToString() const;
  friend bool operator==(const DeviceName& a, const DeviceName& b) = default;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_DEVICE_NAME_H_
