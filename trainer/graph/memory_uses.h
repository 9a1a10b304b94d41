// What the memory of a device is for: planned from sizes before any of it is taken, told in one
// line of the log, and named where there is none.
//
// The plan is what is asked of Device::Allocate, byte by byte; what an allocator rounds up, and
// what a driver and its libraries take, is beside it (Device::memory_level).
//
// Ownership: values; AllocateFor borrows the device. Threads: any. Errors: of AllocateFor the
// device's; of memory that is not there also what it was for and what needs less.
//
//   const MemoryUses uses = PlanUses({.elements = 1'000, .trained_elements = 1'000, …});
//   ASSIGN_OR_RETURN(Buffer arena, AllocateFor(device, MemoryUse::kActivations, bytes));

#ifndef TRAINER_GRAPH_MEMORY_USES_H_
#define TRAINER_GRAPH_MEMORY_USES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "trainer/graph/device.h"

namespace taas {

enum class MemoryUse : uint8_t {
  kVariables,
  kSlots,        // What an optimizer keeps of each variable.
  kGradients,
  kActivations,  // All tensors in between, and what their kernels work in: they share one arena.
  kWorkspaces,   // Of kernels that belong to no graph.
  kInputs,
  kOther,        // Constants, lists of rows, the block of a step.
  kPinned,       // Of the host: what is copied while it goes on.
};
inline constexpr size_t kMemoryUses = 8;

// "activations".
std::string_view NameOf(MemoryUse use);

// Bytes of each use.
struct MemoryUses {
  std::array<size_t, kMemoryUses> bytes{};

  size_t& operator[](MemoryUse use) { return bytes[static_cast<size_t>(use)]; }
  size_t operator[](MemoryUse use) const { return bytes[static_cast<size_t>(use)]; }
  // Of the device: all but what is pinned.
  size_t of_device() const;
  MemoryUses& operator+=(const MemoryUses& more);
  friend bool operator==(const MemoryUses&, const MemoryUses&) = default;
};

// What a session knows of itself. Elements are float32, with those between tensors.
struct MemorySizes {
  size_t elements = 0;          // Of all variables.
  size_t trained_elements = 0;  // Of those with gradients and slots.
  bool gradients = false;
  size_t slots = 0;
  size_t arena_bytes = 0;
  size_t input_bytes = 0;  // Of a batch.
  size_t other_bytes = 0;
  size_t pinned_bytes = 0;
};

MemoryUses PlanUses(const MemorySizes& sizes);

absl::StatusOr<Buffer> AllocateFor(Device& device, MemoryUse use, size_t bytes,
                                   MemoryKind kind = MemoryKind::kDevice);

// One line: what is planned on `device`, and where it tells, what else there is in its memory; of a
// processor for who asks for details (--verbose).
void LogUses(const MemoryUses& uses, const Device& device);

}  // namespace taas

#endif  // TRAINER_GRAPH_MEMORY_USES_H_
