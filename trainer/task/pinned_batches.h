// Memory of the host in which batches are made and from which a device copies them while the host
// goes on.
//
// Ownership: owns the memory, borrows the device. Threads: none of its own. Errors: of Make those
// of AllocateFor.
//
//   ASSIGN_OR_RETURN(PinnedBatches batches, PinnedBatches::Make(device, sizes, /*count=*/3));
//   TrainInput input(data, {.batch_size = 100, .memory = batches.rows()});

#ifndef TRAINER_TASK_PINNED_BATCHES_H_
#define TRAINER_TASK_PINNED_BATCHES_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer/data/dataset.h"
#include "trainer/data/stream/batch_prefetch.h"
#include "trainer/graph/device.h"

namespace taas {

class PinnedBatches {
 public:
  PinnedBatches() = default;  // None.
  static absl::StatusOr<PinnedBatches> Make(Device& device, const BatchPrefetch::Sizes& sizes,
                                            size_t count);

  // Of each batch.
  const std::vector<BatchRows>& rows() const { return rows_; }
  size_t bytes() const { return bytes_; }

 private:
  absl::Status Add(Device& device, const BatchPrefetch::Sizes& sizes);

  std::vector<Buffer> memory_;
  std::vector<BatchRows> rows_;
  size_t bytes_ = 0;
};

}  // namespace taas

#endif  // TRAINER_TASK_PINNED_BATCHES_H_
