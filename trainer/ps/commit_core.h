// The commit rule as two pure state machines: a push becomes part of the model on all shards or on
// none, once, and in the same order everywhere.
//
// Every shard stages a push (PushLedger). Shard 0 hears which shards have staged it (Sequencer);
// when all have, it decides once. Without aggregation each push is a step. With aggregation a step
// is the first N pushes that were computed at the step before: the commit names them all; who comes
// late is dropped. With a bound on staleness each push is a step, too: it waits where it would make
// another one too stale (staleness_gate.h), and is dropped where it is too stale itself. Decisions
// form one stream that every shard follows in order. A fence in that stream ends an incarnation:
// what it staged is dropped, what it sends later is refused.
//
//   push:  [unknown] --push--> [staged] --commit--> [settled, applied]
//                                 |------drop-----> [settled, not applied]
//                                 |------bank-----> [staged, its sender goes on]
//                                 |------fence----> gone; the incarnation is refused from now on
//
// Ownership: value types. Threads: one at a time. Errors: OnDecision reports a decision that cannot
// follow this shard's state (FailedPrecondition): the shard has lost something and must be
// configured anew.
//
//   if (ledger.OnPush(push) == Admission::kStaged) Tell(shard_0, push);
//   for (const Decision& decision : sequencer.OnStaged(shard, push)) Broadcast(decision);

#ifndef TRAINER_PS_COMMIT_CORE_H_
#define TRAINER_PS_COMMIT_CORE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/batches/batch_turns.h"
#include "trainer/batches/committed_set.h"
#include "trainer/ps/push_id.h"
#include "trainer/ps/staleness_gate.h"

namespace taas::ps {

struct Decision {
  enum class Kind { kCommit, kDrop, kBank, kFence, kCut };
  Kind kind = Kind::kCommit;
  // kCommit: all that make the step, by batch. kFence: only the pusher counts. kCut: the sequence
  // number is the cut's.
  std::vector<PushId> pushes;
  int64_t step = 0;  // The step this makes (kCommit), else the step after which it stands.

  const PushId& push() const { return pushes.front(); }
  bool operator==(const Decision&) const = default;
};

// Pushes in decisions that a shard may lag behind by and still be brought up to date. Every pusher
// has one push under way, so in health the lag is the number of pushers.
constexpr size_t kDecisionsKept = 8192;

// Shard 0's part.
class Sequencer {
 public:
  struct Options {
    int shards = 1;
    CommittedSet committed;
    int64_t step = 0;   // The updates that made `committed`.
    int64_t steps = 0;  // No step above this is made.
    int aggregate = 0;  // Pushes that make one step; 0: each push is a step, whatever its base.
    // Beside `aggregate` 1: a push may be applied so many steps after its base, not only at it.
    std::optional<int64_t> max_staleness{};
  };
  explicit Sequencer(Options options);

  std::vector<Decision> OnStaged(int shard, const StagedPush& staged);
  std::vector<Decision> OnFence(const Pusher& pusher);
  Decision OnCut();

  // The rest is for aggregation. The batch that `pusher` is to compute at the present step; none
  // while it has to wait. Whoever asks is there.
  std::optional<int64_t> Next(const Pusher& pusher);
  // With a bound on staleness: from which step on values do for what `pusher` has to compute.
  std::optional<int64_t> OldestFor(const Pusher& pusher) const;
  // The sender of `push` waits for its answer, perhaps again.
  std::vector<Decision> OnHere(const PushId& push);
  // `pusher` is not there any more, for now: others get what it has under way.
  std::vector<Decision> OnGone(const Pusher& pusher);

  bool aggregates() const { return aggregate_ > 0; }
  bool finished() const { return step_ >= steps_; }
  int64_t step() const { return step_; }
  const CommittedSet& committed() const { return turns_.committed(); }
  // All but the first `seen` decisions, for a shard that has seen those. FailedPrecondition if they
  // are no longer kept.
  absl::StatusOr<std::vector<Decision>> DecisionsAfter(uint64_t seen) const;

 private:
  struct Pending {
    StagedPush staged;
    std::set<int> shards;
    bool candidate = false;
  };
  struct Progress {
    std::map<uint64_t, Pending> pending;  // By sequence number.
    uint64_t decided = 0;                 // The highest that was decided.
  };
  Decision Commit(std::vector<PushId> pushes);
  Decision Drop(const PushId& push);
  std::vector<Decision> OnComplete(Progress& progress, Pending& pending);
  std::vector<Decision> OnCompleteBounded(Progress& progress, Pending& pending);
  std::optional<int64_t> Give(const Pusher& pusher);
  void TakeBack(const Pusher& pusher);
  // Somebody has gone, or has come.
  void GoOn(std::vector<Decision>& decisions);
  // With a bound: decides about all candidates that need not wait any more.
  void DecideBounded(std::vector<Decision>& decisions);
  std::optional<PushId> FirstFree() const;
  // Its sender gave up what it sent before `sequence`, and shards have forgotten it.
  void Abandon(Progress& progress, uint64_t sequence);
  // Lets replicas that have delivered go on while the step lacks batches.
  void Refill(std::vector<Decision>& decisions);
  const Decision& Keep(const Decision& decision);

  const int shards_;
  const int64_t steps_;
  const int aggregate_;
  int64_t step_;
  BatchTurns turns_;
  std::optional<StalenessGate> gate_;  // Of what is under way, and of candidates.
  std::deque<Pusher> refused_;  // By the gate: who asked first begins first.
  std::map<Pusher, Progress> progress_;
  std::set<Pusher> fenced_;
  std::map<int64_t, PushId> candidates_;  // By batch.
  std::set<Pusher> present_;
  std::map<Pusher, PushId> waiting_;      // Present, have delivered, and have nothing to do.
  uint64_t cuts_ = 0;
  std::deque<Decision> kept_;
  size_t kept_pushes_ = 0;
  uint64_t forgotten_ = 0;  // Decisions before the first in kept_.
};

enum class Admission {
  kStaged,   // Now or before: tell shard 0 (again).
  kSettled,  // Decided and carried out here: answer now.
  kFenced,   // The pusher was given up.
};

// Every shard's part.
class PushLedger {
 public:
  struct Settled {
    uint64_t sequence = 0;
    bool applied = false;
    int64_t step = 0;
  };

  explicit PushLedger(int64_t step) : step_(step) {}

  Admission OnPush(const StagedPush& staged);
  // True: apply the mean of the staged gradients of decision.pushes (kCommit), hold the values
  // (kCut). False: nothing, which is also the answer to a decision that comes again.
  absl::StatusOr<bool> OnDecision(const Decision& decision);

  int64_t step() const { return step_; }
  // How many decisions have come, so that a broken stream goes on where it was.
  uint64_t seen() const { return seen_; }
  bool fenced(const Pusher& pusher) const { return fenced_.count(pusher) != 0; }
  // Of the highest number that was settled.
  Settled settled(const Pusher& pusher) const;
  // Whether the sender of this push is to go on before it is settled.
  bool banked(const PushId& push) const;
  bool holds(const PushId& push) const;
  // For shard 0 after a broken connection.
  std::vector<StagedPush> staged() const;

 private:
  struct Entry {
    std::map<uint64_t, StagedPush> staged;
    uint64_t banked = 0;
    Settled settled;
  };
  absl::Status CheckCommit(const Decision& decision) const;
  void Settle(const PushId& push, bool applied, int64_t step);

  int64_t step_;
  uint64_t seen_ = 0;
  uint64_t cuts_ = 0;  // The highest sequence number of a cut.
  std::map<Pusher, Entry> entries_;
  std::set<Pusher> fenced_;
};

}  // namespace taas::ps

#endif  // TRAINER_PS_COMMIT_CORE_H_
