// The ranks that train one model together, as one of them deals with them: it enters an epoch, and
// makes steps with the others until one of them is lost.
//
// A step is the same on every rank, to the bit: each computes the gradients of a batch of its own,
// and all apply the mean. The mean of the losses comes first, so that all see alike a loss that is
// no number. What a graph moves besides (the moving moments of batch normalization) moves by the
// mean of what each batch adds. Gradients that list their rows are exchanged as whole tables.
//
// Ownership: borrows meeting and session. Threads: one at a time; Abort from any. Errors: those of
// Group and Meeting, after which the epoch is over for all its ranks and the gradients are of no
// use; the variables are those of the last step that was applied. Those of the device.
//
//   RETURN_IF_ERROR(ring.Enter(epoch));
//   RETURN_IF_ERROR(ring.TakeGiven());
//   RETURN_IF_ERROR(ring.BeginStep(step + 1));
//   ASSIGN_OR_RETURN(const float own, task.ComputeGradients({&batch, 1}));
//   ASSIGN_OR_RETURN(const float loss, ring.Mean(own));

#ifndef TRAINER_RING_RING_H_
#define TRAINER_RING_RING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/collective/exchange.h"
#include "trainer/collective/group.h"
#include "trainer/collective/meeting.h"
#include "trainer/graph/session.h"
#include "trainer/graph/tensor_ref.h"
#include "trainer/ring/epoch.h"

namespace taas {

// Up to here a vector is sent by each rank to each: one message after another costs more than its
// bytes do.
constexpr size_t kDirectElementsMax = size_t{4} << 10;

class Ring {
 public:
  // `cores`: that this machine has for the ranks that are on it.
  Ring(collective::Meeting& meeting, Session& session, int cores);

  // Meets the others, and receives the model of epoch.start where this rank is to be given it: all
  // of it, values, slots and moments, or the epoch has ended and the own model is as it was. Who
  // gives may be lost while it does, and then the next best is the model of who receives.
  absl::Status Enter(const Epoch& epoch);
  // What was received becomes the model, if anything was.
  absl::Status TakeGiven();
  int rank() const { return place_.rank; }
  int ranks() const { return place_.ranks; }

  // Before the gradients of `step` are computed.
  absl::Status BeginStep(int64_t step);
  // The session's gradients become the mean of all ranks, and its moments what they are after it.
  // Returns the mean of the losses; where that is no number the gradients are each rank's own.
  absl::StatusOr<float> Mean(float loss);
  // The epoch is over, here and for all; also one that is entered now.
  void Abort(uint32_t epoch);

 private:
  // A part of the model that another rank has given.
  struct Given {
    TensorRef tensor;
    std::vector<float> values;
  };
  absl::Status Give(const Epoch& epoch, const TensorRef& tensor, uint64_t number);
  absl::Status Run(collective::Exchange& exchange, uint64_t number, std::span<float> values);
  collective::Plan SumOf(size_t elements) const;
  absl::Status AverageGradients();
  // The vectors of an exchange on the host: where they lie, or `room`.
  static std::span<float> See(const TensorRef& tensor, std::vector<float>* room);

  collective::Meeting& meeting_;
  Session& session_;
  const int cores_;
  std::vector<size_t> moved_;
  collective::Place place_;
  int64_t step_ = 0;
  std::mutex mutex_;  // Of what follows, for Abort.
  uint32_t epoch_ = 0, over_ = 0;
  std::shared_ptr<collective::Group> group_;
  std::optional<collective::Exchange> gradients_, rest_;
  std::vector<float> room_;
  std::vector<Given> given_;
  // The loss, and what is added to each moment; the moments before.
  std::vector<float> rest_values_, moments_;
  std::vector<int32_t> all_rows_;  // 0, 1, …
};

}  // namespace taas

#endif  // TRAINER_RING_RING_H_
