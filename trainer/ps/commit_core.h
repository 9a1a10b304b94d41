// The commit rule as two pure state machines: a push becomes part of the model on all shards or on
// none, once, and in the same order everywhere.
//
// Every shard stages a push (PushLedger). Shard 0 hears which shards have staged it (Sequencer);
// when all have, it decides once: a commit with the next step number, or a drop because the batch
// is part of the model already. Decisions form one stream that every shard follows in order. A
// fence in that stream ends an incarnation: what it staged is dropped, what it sends later is
// refused.
//
//   push:  [unknown] --push--> [staged] --commit--> [settled, applied]
//                                 |------drop-----> [settled, dropped]
//                                 |------fence----> gone; the incarnation is refused from now on
//
// Ownership: value types. Threads: one at a time. Errors: OnDecision reports a decision that cannot
// follow this shard's state (FailedPrecondition): the shard has lost something and must be
// configured anew.
//
//   if (ledger.OnPush(id) == Admission::kStaged) Tell(shard_0, id);
//   for (const Decision& decision : sequencer.OnStaged(shard, id)) Broadcast(decision);

#ifndef TRAINER_PS_COMMIT_CORE_H_
#define TRAINER_PS_COMMIT_CORE_H_

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/ps/committed_set.h"

namespace taas::ps {

// One life of one training replica.
struct Pusher {
  uint32_t rank = 0;
  uint32_t pod = 0;
  uint64_t start = 0;

  auto operator<=>(const Pusher&) const = default;
};

struct PushId {
  Pusher pusher;
  uint64_t sequence = 0;  // From 1; a repeated push has the same.
  int64_t batch = 0;

  auto operator<=>(const PushId&) const = default;
};

struct Decision {
  enum class Kind { kCommit, kDrop, kFence, kCut };
  Kind kind = Kind::kCommit;
  PushId push;       // kFence: only the pusher counts; kCut: the sequence number, of the cut.
  int64_t step = 0;  // The step this makes (kCommit), else the step after which it stands.

  bool operator==(const Decision&) const = default;
};

// Decisions that a shard may lag behind by and still be brought up to date. Every pusher has one
// push under way, so in health the lag is the number of pushers.
constexpr size_t kDecisionsKept = 8192;

// Shard 0's part.
class Sequencer {
 public:
  Sequencer(int shards, CommittedSet committed, int64_t batches);

  std::vector<Decision> OnStaged(int shard, const PushId& push);
  std::vector<Decision> OnFence(const Pusher& pusher);
  Decision OnCut();

  int64_t step() const { return committed_.size(); }
  const CommittedSet& committed() const { return committed_; }
  // What a shard whose model is at `step` has not seen or may have lost. FailedPrecondition if that
  // is no longer kept.
  absl::StatusOr<std::vector<Decision>> DecisionsAfter(int64_t step) const;

 private:
  struct Progress {
    PushId push;
    std::set<int> staged;
    uint64_t decided = 0;  // The highest sequence number that was decided.
  };
  void Keep(const Decision& decision);

  const int shards_;
  const int64_t batches_;
  CommittedSet committed_;
  std::map<Pusher, Progress> progress_;
  std::set<Pusher> fenced_;
  uint64_t cuts_ = 0;
  std::deque<Decision> kept_;
  int64_t kept_from_;  // The step before the first decision in kept_.
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

  Admission OnPush(const PushId& push);
  // True: apply the staged gradient of decision.push (kCommit), hold the values (kCut). False:
  // nothing, which is also the answer to a decision that comes again.
  absl::StatusOr<bool> OnDecision(const Decision& decision);

  int64_t step() const { return step_; }
  bool fenced(const Pusher& pusher) const { return fenced_.count(pusher) != 0; }
  Settled settled(const Pusher& pusher) const;
  // For shard 0 after a broken connection.
  std::vector<PushId> staged() const;

 private:
  struct Entry {
    std::optional<PushId> staged;
    Settled settled;
  };
  int64_t step_;
  uint64_t cuts_ = 0;  // The highest sequence number of a cut.
  std::map<Pusher, Entry> entries_;
  std::set<Pusher> fenced_;
};

}  // namespace taas::ps

#endif  // TRAINER_PS_COMMIT_CORE_H_
