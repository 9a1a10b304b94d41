// Who computes which batch for the step that is being made: shard 0's hand-out in synchronous
// training. Pure.
//
// A replica has one batch at a time. What was handed out for a step and did not become part of it
// goes back when the step is made, and goes out again first. Idle replicas get what others have
// under way when nothing else is left, so that one slow replica cannot keep the last steps waiting.
//
// Ownership: value type. Threads: one at a time. Errors: none.
//
//   const std::optional<int64_t> batch = turns.Give(pusher);
//   if (turns.Deliver(pusher, *batch)) ...  // The first gradient of this batch.

#ifndef TRAINER_BATCHES_BATCH_TURNS_H_
#define TRAINER_BATCHES_BATCH_TURNS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "trainer/batches/batch_pool.h"
#include "trainer/batches/committed_set.h"
#include "trainer/batches/pusher.h"

namespace taas {

class BatchTurns {
 public:
  // Everything below `batches` that is not in `committed` is handed out.
  BatchTurns(CommittedSet committed, int64_t batches);

  // The batch that `pusher` has, else another; none if all are delivered or part of the model.
  std::optional<int64_t> Give(const Pusher& pusher);
  // `pusher` has computed `batch`. False if that was not handed out, or is delivered or part of the
  // model: of no use. What somebody else has under way counts for who delivers it first.
  bool Deliver(const Pusher& pusher, int64_t batch);
  // For who does without turns: makes `batch` part of the model; false if it is, or is none.
  bool Claim(int64_t batch) { return pool_.Commit(batch); }
  // `pusher` goes: what it has under way is to be handed out again.
  void TakeBack(const Pusher& pusher);
  // A delivered gradient is lost with its sender: as if it had not been delivered.
  void Undo(int64_t batch);
  // The step is made of all that is delivered; the rest goes back.
  void EndStep();
  // The step is made of `batch`, which is delivered; who else has it, has it no more.
  void Commit(int64_t batch);

  // The batch that `pusher` has.
  std::optional<int64_t> of(const Pusher& pusher) const;
  size_t delivered() const { return delivered_.size(); }
  // Batches that somebody computes now and nobody has delivered.
  size_t under_way() const;
  const CommittedSet& committed() const { return pool_.committed(); }

 private:
  std::optional<int64_t> Take();
  bool Held(int64_t batch) const;

  BatchPool pool_;
  std::map<Pusher, int64_t> under_way_;
  std::set<int64_t> delivered_;
};

}  // namespace taas

#endif  // TRAINER_BATCHES_BATCH_TURNS_H_
