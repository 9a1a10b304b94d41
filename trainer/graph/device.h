// Where tensors lie and ops run: all that a session knows of a machine, beside the kernels of its
// device type (kernel_registry.h). A backend for another processor fills in these and registers
// kernels; graph, schedule, memory plan and sessions stay as they are
// (docs/design/0017-devices.md).
//
// Ownership: a Buffer owns its memory; buffers, streams, events and programs are their maker's, and
// the device outlives them. Threads: a device from any; a stream, with its programs, from one at a
// time; an event from any. Errors: ResourceExhausted for memory that is not there; kernels' own.
//
//   ASSIGN_OR_RETURN(Buffer arena, device.Allocate(plan.bytes));
//   const std::unique_ptr<Stream> stream = device.MakeStream();
//   RETURN_IF_ERROR(stream->Copy(arena.data(), batch, bytes));
//   RETURN_IF_ERROR(stream->Launch(kernel, call));
//   RETURN_IF_ERROR(stream->Synchronize());

#ifndef TRAINER_GRAPH_DEVICE_H_
#define TRAINER_GRAPH_DEVICE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/graph/machine_fault.h"

namespace taas {

enum class MemoryKind : uint8_t {
  kDevice,  // Where its kernels work; the host may not see it.
  kPinned,  // The host's, to and from which a device copies while the host goes on.
};

// What a device's driver tells of its memory, in bytes.
struct MemoryLevel {
  size_t total = 0;
  size_t free_at_start = 0;  // When this process had nothing there but what the driver needs.
  size_t free = 0;           // Now.
};

// Memory of one device, zeroed when it is made.
class Buffer {
 public:
  using Free = std::function<void(void* memory)>;

  Buffer() = default;  // Of nothing.
  Buffer(void* memory, size_t bytes, Free free, MemoryKind kind = MemoryKind::kDevice)
      : memory_(memory, std::move(free)), bytes_(bytes), kind_(kind) {}

  // A multiple of Device::alignment().
  std::byte* data() const { return static_cast<std::byte*>(memory_.get()); }
  size_t bytes() const { return bytes_; }
  MemoryKind kind() const { return kind_; }

 private:
  std::unique_ptr<void, Free> memory_{nullptr, [](void*) {}};
  size_t bytes_ = 0;
  MemoryKind kind_ = MemoryKind::kDevice;
};

// A moment of a stream: all that was launched into it before. One that no stream has recorded has
// passed.
class Event {
 public:
  virtual ~Event() = default;
  // Returns when it has passed; where the stream has failed before, with its error, which
  // Stream::Synchronize tells again.
  virtual absl::Status Synchronize() = 0;
};

// A moment whose time is known when it has passed, by the device's own clock.
class TimedEvent : public Event {
 public:
  // `earlier` is of the same device; both have passed.
  virtual absl::StatusOr<std::chrono::nanoseconds> Since(const TimedEvent& earlier) const = 0;
};

// What a stream was given once, to be launched again and again.
class Program {
 public:
  virtual ~Program() = default;
  // Into a stream of the device that recorded it.
  virtual absl::Status Launch(Stream& stream) = 0;
};

// Runs what is launched into it in that order. A device that does so while the host goes on reports
// errors of runs at Synchronize.
class Stream {
 public:
  virtual ~Stream() = default;
  // The kernel and what `call` refers to stay as they are until Synchronize has returned; captured,
  // kernel and memory as long as the program, which keeps the addresses.
  virtual absl::Status Launch(const Kernel& kernel, const KernelCall& call) = 0;
  // Each end lies in memory of the device, in pinned memory, or in memory of the host that stays as
  // it is until Synchronize has returned.
  virtual absl::Status Copy(void* to, const void* from, size_t bytes) = 0;
  // `event` is of this device, and from now on this moment.
  virtual absl::Status Record(Event& event) = 0;
  // What is launched from now on runs when the moment has passed that was last recorded.
  virtual absl::Status Wait(Event& event) = 0;
  // Records what `work` launches into this stream, and runs nothing of it.
  virtual absl::StatusOr<std::unique_ptr<Program>> Capture(
      absl::FunctionRef<absl::Status()> work) = 0;
  // Returns when all that was launched has ended.
  virtual absl::Status Synchronize() = 0;
};

// Waits also where a launch has failed: what was launched before may still use its memory. The
// first error of both, but for one that is the machine's fault: of a device that is lost a launch
// may say something else.
inline absl::Status Await(Stream& stream, absl::Status launched) {
  absl::Status ended = stream.Synchronize();
  return launched.ok() || IsMachineFault(ended) ? ended : launched;
}

class Device {
 public:
  virtual ~Device() = default;
  // As in a DeviceName: "CPU".
  virtual std::string_view type() const = 0;
  // The hardware's: "Intel(R) Xeon(R) Platinum 8481C", and what else tells one from another.
  virtual std::string name() const = 0;
  // Of all buffers, and of tensors within them: a power of two.
  virtual size_t alignment() const = 0;
  // Whether the host may read and write what lies in MemoryKind::kDevice, while no kernel uses it.
  virtual bool host_sees_memory() const = 0;
  // Whether a step is recorded once and launched as a Program; else each kernel is, each time.
  virtual bool prefers_programs() const { return false; }
  // Why products that are wanted in this precision are computed in float32 here; empty where they
  // are not.
  virtual std::string_view MissingFor(Precision) const { return ""; }
  // Nothing where nobody tells.
  virtual std::optional<MemoryLevel> memory_level() const { return std::nullopt; }
  // At least `bytes`.
  virtual absl::StatusOr<Buffer> Allocate(size_t bytes, MemoryKind kind = MemoryKind::kDevice) = 0;
  virtual std::unique_ptr<Stream> MakeStream() = 0;
  virtual std::unique_ptr<Event> MakeEvent() = 0;
  // Null: it has no clock of its own, and whoever measures waits for each kernel.
  virtual std::unique_ptr<TimedEvent> MakeTimedEvent() { return nullptr; }
  // As Stream::Copy, and returns when it is done. Meanwhile no stream writes `from`, nor uses `to`;
  // streams may read `from`.
  virtual absl::Status Copy(void* to, const void* from, size_t bytes) {
    const std::unique_ptr<Stream> stream = MakeStream();
    return Await(*stream, stream->Copy(to, from, bytes));
  }
};

}  // namespace taas

#endif  // TRAINER_GRAPH_DEVICE_H_
