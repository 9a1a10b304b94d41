// Where tensors lie and ops run: all that a session knows of a machine, beside the kernels of its
// device type (kernel_registry.h). A backend for another processor fills in these three and
// registers kernels; graph, schedule, memory plan and sessions stay as they are
// (docs/design/0017-devices.md).
//
// Ownership: a Buffer owns its memory and a session its buffers and streams; the device outlives
// both. Threads: a device from any; a stream from one at a time. Errors: ResourceExhausted for
// memory that is not there; those of kernels.
//
//   ASSIGN_OR_RETURN(Buffer arena, device.Allocate(plan.bytes));
//   const std::unique_ptr<Stream> stream = device.MakeStream();
//   RETURN_IF_ERROR(stream->Launch(kernel, call));
//   RETURN_IF_ERROR(stream->Synchronize());

#ifndef TRAINER_GRAPH_DEVICE_H_
#define TRAINER_GRAPH_DEVICE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/graph/kernel_registry.h"

namespace taas {

// Memory of one device, zeroed when it is made.
class Buffer {
 public:
  using Free = void (*)(void* memory);

  Buffer(void* memory, size_t bytes, Free free) : memory_(memory, free), bytes_(bytes) {}

  // A multiple of MemoryPlan::kAlignment.
  std::byte* data() const { return static_cast<std::byte*>(memory_.get()); }
  size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<void, Free> memory_;
  size_t bytes_;
};

// Runs kernels one after the other, in the order in which they were launched.
class Stream {
 public:
  virtual ~Stream() = default;
  // What `call` refers to stays as it is until Synchronize has returned. A device that runs kernels
  // while the host goes on reports errors of their runs there.
  virtual absl::Status Launch(const Kernel& kernel, const KernelCall& call) = 0;
  // Returns when all that was launched has ended.
  virtual absl::Status Synchronize() = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  // As in a DeviceName: "CPU".
  virtual std::string_view type() const = 0;
  // The hardware's: "Intel(R) Xeon(R) Platinum 8481C", and what else tells one from another.
  virtual std::string name() const = 0;
  // Why products that are wanted in this precision are computed in float32 here; "": they are not.
  virtual std::string_view MissingFor(Precision) const { return ""; }
  // At least `bytes`.
  virtual absl::StatusOr<Buffer> Allocate(size_t bytes) = 0;
  virtual std::unique_ptr<Stream> MakeStream() = 0;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_DEVICE_H_
