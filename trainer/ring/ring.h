// The ranks that train one model together, as one of them deals with them: it enters an epoch, and
// makes steps with the others until one of them is lost.
//
// A step is the same on every rank, to the bit: each computes the gradients of a batch of its own,
// and all apply the mean. The mean of the losses comes first, so that all see alike a loss that is
// no number. What a graph moves besides (the moving moments of batch normalization) moves by the
// mean of what each batch adds. Gradients that list their rows are exchanged as whole tables. What
// is exchanged when is ring_core.h's.
//
// Ownership: borrows meeting and session. Threads: one at a time; Abort from any. Errors: those of
// Group and Meeting, after which the epoch is over for all its ranks and the gradients are of no
// use; the variables are those of the last step that was applied. Those of the device.
//
//   RETURN_IF_ERROR(ring.Enter(epoch));
//   RETURN_IF_ERROR(ring.BeginStep(step + 1));
//   ASSIGN_OR_RETURN(const float own, task.ComputeGradients({&batch, 1}));
//   ASSIGN_OR_RETURN(const float loss, ring.Mean(own));

#ifndef TRAINER_RING_RING_H_
#define TRAINER_RING_RING_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "trainer/collective/group.h"
#include "trainer/collective/meeting.h"
#include "trainer/graph/session.h"
#include "trainer/ring/epoch.h"
#include "trainer/ring/share_meter.h"
#include "trainer/ring/ring_core.h"

namespace taas {

class Ring {
 public:
  // `cores`: that this machine has for the ranks that are on it.
  Ring(collective::Meeting& meeting, Session& session, int cores);

  // Meets the others; then the model is that of epoch.start. A model that is given away or taken is
  // complete: values, slots, moments. Where the epoch ends before, the own model is as it was.
  absl::Status Enter(const Epoch& epoch);
  int rank() const { return core_.place().rank; }
  int ranks() const { return core_.place().ranks; }

  // Before the gradients of `step` are computed.
  absl::Status BeginStep(int64_t step);
  // The session's gradients become the mean of all ranks, and its moments what they are after it.
  // Returns the mean of the losses; where that is no number the gradients are each rank's own.
  absl::StatusOr<float> Mean(float loss);
  // Whose link broke first, if that is why an exchange of this epoch failed.
  std::optional<int> lost() const;
  // What of the device failed in the last Enter or Mean, if anything did: that is this rank's own,
  // and no other epoch mends it.
  const absl::Status& own_error() const { return own_error_; }
  // Of the last Mean: what waiting for the losses of all and exchanging the gradients took.
  const StepTimes& times() const { return times_; }
  // The epoch is over, here and for all; also one that is entered now.
  void Abort(uint32_t epoch);

 private:
  // All exchanges that are next.
  absl::Status Exchange();
  absl::Status SetGradientRows();

  collective::Meeting& meeting_;
  Session& session_;
  const int cores_;
  const RealClock clock_;
  RingCore core_;
  StepTimes times_;
  absl::Status own_error_;
  std::mutex mutex_;  // Of what follows, for Abort.
  uint32_t epoch_ = 0, over_ = 0;
  std::shared_ptr<collective::Group> group_;
  std::vector<int32_t> all_rows_;  // 0, 1, …
};

}  // namespace taas

#endif  // TRAINER_RING_RING_H_
