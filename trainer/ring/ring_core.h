// What a rank exchanges with the others, one vector after the other: the model at the beginning of
// an epoch, and in each step the losses with what is added to moments, then the gradients.
//
// It says which exchange is next and what follows from it; who runs exchanges (ring.h with threads
// and connections, a simulation with neither) runs them until there is none.
//
// Ownership: borrows the model. Threads: one at a time. Errors: those of the device.
//
//   core.Enter(epoch);
//   for (;;) {
//     ASSIGN_OR_RETURN(collective::Exchange* const exchange, core.Next());
//     if (exchange == nullptr) break;
//     RETURN_IF_ERROR(group.Run(*exchange));
//   }

#ifndef TRAINER_RING_RING_CORE_H_
#define TRAINER_RING_RING_CORE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/collective/exchange.h"
#include "trainer/collective/plan.h"
#include "trainer/graph/model_state.h"
#include "trainer/graph/tensor_ref.h"
#include "trainer/ring/epoch.h"

namespace taas {

// Up to here a vector is sent by each rank to each: one message after another costs more than its
// bytes do.
constexpr size_t kDirectElementsMax = size_t{4} << 10;

class RingCore {
 public:
  struct Options {
    size_t direct_elements_max = kDirectElementsMax;
    size_t chunk_elements = collective::kChunkElements;
  };
  explicit RingCore(ModelState& model) : RingCore(model, Options()) {}
  RingCore(ModelState& model, Options options);

  // What is given in this epoch comes next: values, moments, slots. Who receives has its own model
  // until all of it is there: who gives may be lost while it does, and then that is the next best.
  void Enter(const Epoch& epoch);
  const collective::Place& place() const { return place_; }
  // Before the gradients of `step` are computed: moments begin at zero, so that what is in them
  // afterwards is what the batch adds.
  absl::Status BeginStep(int64_t step);
  // The losses and the gradients come next.
  absl::Status BeginMean(float loss);
  // Begun, and to be run until it is done, or the last if there is none (null). An exchange that
  // was not done is not followed by another.
  absl::StatusOr<collective::Exchange*> Next();
  // What has become of BeginMean's: the mean of the losses, where all exchanges were done.
  // Gradients are the mean of all ranks then, unless that loss is no number, and moments are those
  // after the step; else moments are as they were before it.
  absl::StatusOr<float> EndMean(const absl::Status& exchanged);

 private:
  // Which is under way.
  enum class Stage : uint8_t { kNone, kGiven, kRest, kGradients };

  absl::StatusOr<collective::Exchange*> NextGiven();
  absl::Status TakeReceived();
  absl::StatusOr<collective::Exchange*> BeginGradients();
  absl::Status EndGradients();
  collective::Exchange* Begin(collective::Exchange& exchange, uint64_t number,
                              std::span<float> values);
  // Of what is given: values, moments, then slots.
  size_t given() const { return 2 + model_.slots(); }
  TensorRef Given(size_t i) const;
  collective::Plan SumOf(size_t elements) const;
  // A vector on the host: where it lies, or `room_`.
  std::span<float> See(const TensorRef& tensor);

  ModelState& model_;
  const Options options_;
  std::vector<size_t> moved_;  // Variables that are moments.
  Epoch epoch_;
  collective::Place place_;
  int64_t step_ = 0;
  Stage stage_ = Stage::kNone;
  size_t next_given_ = 0;
  std::optional<collective::Exchange> given_, gradients_, rest_;
  std::span<float> seen_;  // By the exchange that is under way.
  std::vector<float> room_;
  std::vector<std::vector<float>> received_;  // By Given().
  // The loss, and what is added to each moment; the moments before.
  std::vector<float> rest_values_, moments_;
};

}  // namespace taas

#endif  // TRAINER_RING_RING_CORE_H_
