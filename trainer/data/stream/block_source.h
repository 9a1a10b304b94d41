// Training data that is larger than memory, as blocks of examples that follow each other in its
// files, each read when it is needed.
//
// Ownership: whoever makes it outlives its readers. Threads: const methods from any thread. Errors
// of Load: those of the files and of what is in them, naming file and record.
//
//   ASSIGN_OR_RETURN(const Dataset block, source.Load(17));
//   block.GatherFeatures(…);  // Index 0 is example 17 · source.block_examples().

#ifndef TRAINER_DATA_STREAM_BLOCK_SOURCE_H_
#define TRAINER_DATA_STREAM_BLOCK_SOURCE_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"
#include "trainer/data/dataset.h"

namespace taas {

class BlockSource {
 public:
  virtual ~BlockSource() = default;
  virtual int64_t examples() const = 0;        // At least 1.
  virtual int64_t block_examples() const = 0;  // Of each block but the last.
  virtual absl::StatusOr<Dataset> Load(int64_t block) const = 0;

  int64_t blocks() const { return (examples() + block_examples() - 1) / block_examples(); }
  int64_t ExamplesOf(int64_t block) const {
    return std::min(block_examples(), examples() - block * block_examples());
  }
};

}  // namespace taas

#endif  // TRAINER_DATA_STREAM_BLOCK_SOURCE_H_
