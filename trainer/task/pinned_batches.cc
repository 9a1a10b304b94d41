#include "trainer/task/pinned_batches.h"

#include <span>
#include <utility>

#include "operator/base/status.h"
#include "trainer/graph/memory_uses.h"

namespace taas {

absl::StatusOr<PinnedBatches> PinnedBatches::Make(Device& device,
                                                  const BatchPrefetch::Sizes& sizes,
                                                  size_t count) {
  PinnedBatches batches;
  while (batches.rows_.size() < count) RETURN_IF_ERROR(batches.Add(device, sizes));
  return batches;
}

absl::Status PinnedBatches::Add(Device& device, const BatchPrefetch::Sizes& sizes) {
  BatchRows rows;
  const auto pin = [&]<typename T>(size_t count, std::span<T>* values) -> absl::Status {
    if (count == 0) return absl::OkStatus();
    ASSIGN_OR_RETURN(Buffer buffer, AllocateFor(device, MemoryUse::kPinned, count * sizeof(T),
                                                MemoryKind::kPinned));
    *values = {reinterpret_cast<T*>(buffer.data()), count};
    memory_.push_back(std::move(buffer));
    bytes_ += count * sizeof(T);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(pin(sizes.features, &rows.features));
  RETURN_IF_ERROR(pin(sizes.pixels, &rows.pixels));
  RETURN_IF_ERROR(pin(sizes.seeds, &rows.seeds));
  RETURN_IF_ERROR(pin(sizes.ids, &rows.ids));
  RETURN_IF_ERROR(pin(sizes.labels, &rows.labels));
  RETURN_IF_ERROR(pin(sizes.targets, &rows.targets));
  rows_.push_back(rows);
  return absl::OkStatus();
}

}  // namespace taas
