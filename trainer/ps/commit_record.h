// Keeps what a shard has applied, for tests that compare it afterwards.
//
// Ownership: interface; outlives the shard. Threads: one at a time. Errors: none.
//
//   class Ledger : public CommitRecord { … };

#ifndef TRAINER_PS_COMMIT_RECORD_H_
#define TRAINER_PS_COMMIT_RECORD_H_

#include <cstdint>

#include "trainer/ps/commit_core.h"

namespace taas::ps {

class CommitRecord {
 public:
  struct Generation {
    int64_t generation = 0;
    int shard = 0;
    int shards = 1;
    int64_t step = 0;  // Of the cut that it begins from.
  };
  virtual ~CommitRecord() = default;
  virtual void OnGeneration(const Generation& generation) = 0;
  virtual void OnCommit(const Decision& decision) = 0;
};

}  // namespace taas::ps

#endif  // TRAINER_PS_COMMIT_RECORD_H_
