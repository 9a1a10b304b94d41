#include "trainer/graph/memory_uses.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "operator/base/log.h"
#include "trainer/graph/short_text.h"

namespace taas {
namespace {

// What needs less memory of a use.
std::string_view LessOf(MemoryUse use) {
  switch (use) {
    case MemoryUse::kVariables:
    case MemoryUse::kGradients:
    case MemoryUse::kOther:
      return "a smaller model needs less";
    case MemoryUse::kSlots:
      return "a smaller model needs less, and so does an optimizer that keeps less of each "
             "variable: sgd keeps nothing, momentum half of what adam does";
    case MemoryUse::kActivations:
    case MemoryUse::kWorkspaces:
    case MemoryUse::kInputs:
    case MemoryUse::kPinned:
      return "a smaller batchSize needs less";
  }
  return "";
}

size_t Less(size_t from, size_t what) { return from > what ? from - what : 0; }

}  // namespace

std::string_view NameOf(MemoryUse use) {
  constexpr std::string_view kNames[] = {"variables",  "slots",  "gradients", "activations",
                                         "workspaces", "inputs", "other",     "pinned"};
  static_assert(std::size(kNames) == kMemoryUses);
  return kNames[static_cast<size_t>(use)];
}

size_t MemoryUses::of_device() const {
  return std::accumulate(bytes.begin(), bytes.end(), size_t{0}) - (*this)[MemoryUse::kPinned];
}

MemoryUses& MemoryUses::operator+=(const MemoryUses& more) {
  for (size_t use = 0; use < kMemoryUses; ++use) bytes[use] += more.bytes[use];
  return *this;
}

MemoryUses PlanUses(const MemorySizes& sizes) {
  const size_t trained = sizes.trained_elements * sizeof(float);
  MemoryUses uses;
  uses[MemoryUse::kVariables] = sizes.elements * sizeof(float);
  uses[MemoryUse::kSlots] = sizes.slots * trained;
  uses[MemoryUse::kGradients] = sizes.gradients ? trained : 0;
  uses[MemoryUse::kActivations] = sizes.arena_bytes;
  uses[MemoryUse::kInputs] = sizes.input_bytes;
  uses[MemoryUse::kOther] = sizes.other_bytes;
  uses[MemoryUse::kPinned] = sizes.pinned_bytes;
  return uses;
}

absl::StatusOr<Buffer> AllocateFor(Device& device, MemoryUse use, size_t bytes, MemoryKind kind) {
  absl::StatusOr<Buffer> buffer = device.Allocate(bytes, kind);
  if (!absl::IsResourceExhausted(buffer.status())) return buffer;
  return absl::ResourceExhaustedError(std::string(NameOf(use)) + ": " +
                                      std::string(buffer.status().message()) + "; " +
                                      std::string(LessOf(use)));
}

void LogUses(const MemoryUses& uses, const Device& device) {
  const auto text = [&](MemoryUse use) { return BytesText(uses[use]); };
  const size_t planned = uses.of_device();
  const std::string said = "memory of the training: " + BytesText(planned) + " planned";
  const std::optional<MemoryLevel> level = device.memory_level();
  if (!level.has_value()) {
    // A processor, whose memory others tell of: who does not look for it need not read it.
    Log(LogLevel::kDebug, said,
        {{"device", device.name()},
         {"plannedBytes", std::to_string(planned)},
         {NameOf(MemoryUse::kVariables), text(MemoryUse::kVariables)},
         {NameOf(MemoryUse::kSlots), text(MemoryUse::kSlots)},
         {NameOf(MemoryUse::kGradients), text(MemoryUse::kGradients)},
         {NameOf(MemoryUse::kActivations), text(MemoryUse::kActivations)},
         {NameOf(MemoryUse::kInputs), text(MemoryUse::kInputs)}});
    return;
  }
  Log(LogLevel::kInfo, said,
      {{"device", device.name()},
       {"plannedBytes", std::to_string(planned)},
       {NameOf(MemoryUse::kVariables), text(MemoryUse::kVariables)},
       {NameOf(MemoryUse::kSlots), text(MemoryUse::kSlots)},
       {NameOf(MemoryUse::kGradients), text(MemoryUse::kGradients)},
       {NameOf(MemoryUse::kActivations), text(MemoryUse::kActivations)},
       {NameOf(MemoryUse::kWorkspaces), text(MemoryUse::kWorkspaces)},
       {NameOf(MemoryUse::kInputs), text(MemoryUse::kInputs)},
       {NameOf(MemoryUse::kOther), text(MemoryUse::kOther)},
       {NameOf(MemoryUse::kPinned), text(MemoryUse::kPinned)},
       // Of other processes, too: nobody tells them from the context before there is one.
       {"context", BytesText(Less(level->total, level->free_at_start))},
       {"libraries", BytesText(Less(Less(level->free_at_start, level->free), planned))},
       {"free", BytesText(level->free)}});
}

}  // namespace taas
