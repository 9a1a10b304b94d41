// What a rank exchanges with the others, one vector after the other: the model at the beginning of
// an epoch, and in each step the gradients, bucket by bucket, with the losses and what is added to
// moments before the last bucket.
//
//   | bucket 0 | bucket 1 | … | losses, moments, counts | rows | last bucket, whole tables |
//
// So all buckets but the last can be exchanged while the last is computed; and where there is one
// bucket only, a loss that is no number ends the step before a gradient is exchanged. Where devices
// sum the gradients among themselves (device_means.h) that is all that is exchanged here, and they
// are summed behind it. The order is
// the same on every rank, whenever its gradients are there. Tables whose gradients list rows are in
// no bucket: in each step some go by rows and the others whole, as counts say (table_rows.h).
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
#include <deque>
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
#include "trainer/ring/table_rows.h"

namespace taas {

// Up to here a vector is sent by each rank to each: one message after another costs more than its
// bytes do.
constexpr size_t kDirectElementsMax = size_t{4} << 10;

class RingCore {
 public:
  struct Options {
    size_t direct_elements_max = kDirectElementsMax;
    size_t chunk_elements = collective::kChunkElements;
    // Where buckets of gradients end, in elements of the model's arena, ascending: the last is
    // where tables begin, or the arena's end. Empty: there is one.
    std::vector<size_t> bucket_ends{};
    // Those whose gradients list rows: the end of the arena.
    std::vector<RowTable> tables{};
    // With how gradients go, of all of them; whatever else goes is float32.
    TableRows::Options rows{};
  };
  // What is exchanged in a step.
  enum class Vector : uint8_t { kBucket, kRest, kRows, kLast };
  explicit RingCore(ModelState& model) : RingCore(model, Options()) {}
  RingCore(ModelState& model, Options options);

  // What is given in this epoch comes next: values, moments, slots. Who receives has its own model
  // until all of it is there: who gives may be lost while it does, and then that is the next best.
  void Enter(const Epoch& epoch);
  const collective::Place& place() const { return place_; }
  // Of the present step, for what is not exchanged here.
  collective::Turn turn() const { return {.epoch = epoch_.number, .step = step_}; }
  // In this epoch whoever runs the exchanges has the gradients summed, all at once.
  void SumByDevices() { by_devices_ = true; }
  // Before the gradients of `step` are computed: moments begin at zero, so that what is in them
  // afterwards is what the batch adds.
  absl::Status BeginStep(int64_t step);
  size_t buckets() const { return bucket_ends_.size(); }
  // So many buckets are computed, and nobody else touches them: these may be exchanged, but the
  // last. Where the host does not see gradients they wait for BeginMean.
  void BucketsAre(size_t computed) { computed_ = computed; }
  // All are, and the losses come too. `took`: the seconds since the last step's exchanges, which
  // ranks tell each other where there are several buckets. `rows`: of each table those that its
  // gradient lists, which stay as they are until EndMean.
  absl::Status BeginMean(float loss, float took, std::span<const TableRows::Ids> rows = {});
  // Begun, and to be run until it is done. Null if none can begin now: in a step before BeginMean
  // others follow. An exchange that was not done is not followed by another.
  absl::StatusOr<collective::Exchange*> Next();
  // Where devices sum: what is to become its mean of all ranks now, before EndMean. Empty before
  // the losses have come, where one is no number, and of one rank.
  TensorRef sums_by_devices() const { return to_sum_ ? model_.trained_gradients() : TensorRef(); }
  // Of which vector of a step the last one is.
  Vector vector() const;
  // The losses of all have come.
  bool knows_losses() const { return knows_losses_; }
  // The largest of the seconds that ranks told of in this step; 0 where they tell none.
  float slowest() const;
  // What has become of BeginMean's: the mean of the losses, where all exchanges were done.
  // Gradients are the mean of all ranks then, and moments are those after the step; else gradients
  // are of no use and moments are as they were before it. Where that loss is no number gradients
  // are of no use either.
  absl::StatusOr<float> EndMean(const absl::Status& exchanged);
  // What gradients of tables hold after it, whatever has become of the step.
  const TableRows& tables() const { return tables_; }

 private:
  // What is exchanged.
  enum class Stage : uint8_t { kNone, kGiven, kStep };

  absl::StatusOr<collective::Exchange*> NextGiven();
  absl::Status TakeReceived();
  absl::StatusOr<collective::Exchange*> NextOfStep();
  // The rest and the rows come before the last bucket.
  size_t rest_turn() const { return buckets() - 1; }
  size_t last_turn() const { return buckets() + 1; }
  bool MayBegin(size_t turn) const;
  absl::StatusOr<collective::Exchange*> BeginTurn();
  absl::Status EndTurn();
  absl::Status EndRest();
  // The arena of gradients, on the host: as it was computed, at the first time in a step.
  absl::StatusOr<std::span<float>> SeeGradients();
  std::span<float> Bucket(size_t bucket, std::span<float> gradients) const;
  collective::Exchange* BeginLast(std::span<float> gradients);
  absl::Status EndLast(std::span<float> gradients);
  void Scale(std::span<float> sums) const;
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
  const std::vector<size_t> bucket_ends_;
  TableRows tables_;
  std::vector<size_t> moved_;  // Variables that are moments.
  Epoch epoch_;
  collective::Place place_;
  int64_t step_ = 0;
  Stage stage_ = Stage::kNone;
  size_t next_given_ = 0;
  // Of a step: whose turn it is, and the exchange of it, if it has begun.
  size_t turn_ = 0;
  collective::Exchange* under_way_ = nullptr;
  size_t computed_ = 0;
  bool mean_begun_ = false, knows_losses_ = false, sees_gradients_ = false;
  bool by_devices_ = false, to_sum_ = false;
  std::optional<collective::Exchange> given_, rest_;
  std::deque<collective::Exchange> gradients_;  // By bucket, but the last.
  // Of a step: the rows; the last bucket with tables, where these lie, and a copy of what does not
  // lie in one piece.
  std::optional<collective::Exchange> rows_, last_;
  std::vector<collective::Part> last_parts_;
  std::vector<float> last_copy_;
  std::vector<float> room_;  // What the host does not see: all gradients, or what is given.
  std::vector<std::vector<float>> received_;  // By Given().
  // The loss, what is added to each moment, with several buckets what each rank took, and what each
  // has of each table; the moments before.
  std::vector<float> rest_values_, moments_;
  std::span<float> added_, took_, counts_;  // Of rest_values_.
};

}  // namespace taas

#endif  // TRAINER_RING_RING_CORE_H_
