// What the devices of one process do together in a step: means of what each of them has.
//
// Each device is a rank, for which a thread of its own launches. What a rank launches ends when all
// ranks have launched the same, so a rank that launches nothing would let the others wait without
// end: each says when its run begins and how it has ended, and what the others wait for in vain is
// ended as soon as that is known, or by a watch. A run may begin before the one before has ended.
//
// Ownership: borrows the devices. Threads: a rank by one thread at a time, all ranks at the same
// time. Errors: the machine's fault (machine_fault.h), with the device; after one it is of no use.
//
//   collective.Begin(rank);  // The session's run has a StepRest that calls Launch.
//   return collective.End(rank, session.Run(RunKind::kStep), /*under_way=*/0);

#ifndef TRAINER_GRAPH_COLLECTIVE_H_
#define TRAINER_GRAPH_COLLECTIVE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "trainer/graph/device.h"
#include "trainer/graph/tensor_ref.h"

namespace taas {

class Collective {
 public:
  // As many tensors on each rank, of as many float32 elements, in memory of its device; what
  // becomes of them lies there, too.
  struct Exchange {
    std::vector<TensorRef> means;   // Become their mean over all ranks, the same bits on each.
    std::vector<TensorRef> firsts;  // Become what they are on rank 0.
  };

  virtual ~Collective() = default;
  virtual int ranks() const = 0;
  // Into a stream of the rank's device, or into what that records.
  virtual absl::Status Launch(int rank, const Exchange& exchange, Stream& stream) = 0;
  // Before a run of the rank is launched, in which it launches one exchange.
  virtual void Begin(int rank) = 0;
  // So many of its runs, the last that were begun, may be under way still; the others have ended,
  // the last of them with `ended`. Returns that, or why the ranks cannot go on.
  virtual absl::Status End(int rank, absl::Status ended, int64_t under_way) = 0;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_COLLECTIVE_H_
