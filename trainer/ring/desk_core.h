// The chief's decisions about the ranks of an all-reduce, as a state machine: calls and time come
// in, and what is to be told stands there. ring_desk.h has the lock, the thread and the waiting.
//
// An epoch is over as soon as one of its ranks says that it has left it, is replaced, or silent, or
// when another one wants to join; everybody is told at once. The next begins when all who answer
// have ended their step. Who is told of the end and does not answer within a moment is left out: a
// process that was killed answers nothing, and one that was only slow comes to a later epoch. The
// moment is short for one to whom another rank has lost its link.
//
// Ownership: value type; time comes in with each call. Threads: one at a time. Errors: none.
//
//   core.Tell(caller, {.standing = standing, .epoch = 3}, clock.Now());
//   if (const Epoch* epoch = core.EpochOf(caller)) …

#ifndef TRAINER_RING_DESK_CORE_H_
#define TRAINER_RING_DESK_CORE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/clock.h"
#include "trainer/chief/roster.h"
#include "trainer/cluster/membership.h"
#include "trainer/cluster/tf_config.h"
#include "trainer/ring/epoch.h"
#include "trainer/ring/ring_action.h"

namespace taas {

// A living process calls again as soon as it is told of the end of an epoch, from a thread that
// does nothing else.
constexpr std::chrono::milliseconds kAnswerMax{100};
// Of one whose link broke, if another rank says so: the kernel closes those of a process that is
// gone. But a rank that leaves the epoch closes its links, too, and answers as soon as all others
// do.
constexpr std::chrono::milliseconds kLostAnswerMax{10};

class DeskCore {
 public:
  struct Options {
    Roster::Options roster;
    std::string address;  // Where the chief meets others.
    size_t min = 1, max = 1;  // Ranks of an epoch, with the chief.
    int64_t max_steps = std::numeric_limits<int64_t>::max();
    // For those that the job begins with, once enough are there.
    Clock::Duration gather_max = std::chrono::seconds(30);
  };
  // What a rank says that is in no epoch any more.
  struct Waiting {
    Standing standing;
    uint32_t epoch = 0;  // The last that it was told of.
    std::optional<int> lost;  // The rank in it whose link broke, if that is why.
  };
  explicit DeskCore(Options options);

  Admittance Join(const wire::JoinRequest& request, Clock::Time now);
  void Leave(const Roster::Caller& caller, Clock::Time now);
  // Any call: whether the caller is a member, and that it lives.
  Membership::Standing Hear(const Roster::Caller& caller, Clock::Time now);
  // A member that calls has nothing to say, or waits for an epoch.
  void Tell(const Roster::Caller& caller, const std::optional<Waiting>& waiting, Clock::Time now);
  // The chief's own rank waits for an epoch.
  void OwnWaits(const Standing& standing, std::optional<int> lost, Clock::Time now);
  // Time has passed.
  void Look(Clock::Time now);
  // All is trained and kept.
  void Finish(int64_t step);

  // Changes with what anybody is to be told.
  uint64_t view() const { return view_; }
  bool done() const { return done_; }
  int64_t end_step() const { return end_step_; }
  // The epoch that the caller is a rank of, until it is over.
  const Epoch* EpochOf(const Roster::Caller& caller) const;
  // The chief's own, if its rank does not wait any more.
  const Epoch* own_epoch() const { return own_waiting_ ? nullptr : &own_epoch_; }
  // The number of the epoch in force; 0: there is none.
  uint32_t in_force() const { return begun_ && !over_ ? epoch_ : 0; }
  // An epoch that the chief's own rank is to leave; told once.
  std::optional<uint32_t> TakeOver() { return std::exchange(own_over_, std::nullopt); }
  // "" while an epoch is in force.
  const std::string& waiting_for() const { return waiting_for_; }
  // Time decides soon: an epoch is over, and not all of its ranks have answered.
  bool ending() const { return ending_; }
  // Whether all ranks of the last epoch have left; where there was none, all replicas, who look for
  // a chief that came only for the end.
  bool AllLeft() const;
  // Whether it is a member whom something is still to be told.
  bool Awaits(const Roster::Caller& caller) const;
  Roster& roster() { return roster_; }

 private:
  struct Rank {
    Incarnation incarnation;
    Standing standing;
    bool waiting = false;
    Clock::Time heard{};
    bool lost = false;  // Says another rank of the last epoch.
  };

  void Decide(Clock::Time now);
  RingView View(Clock::Time now);
  // For whom, of those who have not joined, while `waiting` ranks are ready.
  std::string DescribeMissing(size_t waiting, Clock::Time now);
  void End(Clock::Time now);
  void Form();
  // A rank of the last epoch is said to be lost.
  void Believe(std::optional<int> lost);
  bool IsRank(const ReplicaId& replica, const Rank& rank) const;
  // Of those who wait, one has the model of the last step.
  bool AllTrained() const;

  const Options options_;
  Roster roster_;
  std::map<ReplicaId, Rank> ranks_;  // But the chief.
  Standing own_;
  bool own_waiting_ = false;
  std::optional<uint32_t> own_over_;
  uint32_t epoch_ = 0;  // The last; `begun_`: of this chief.
  uint32_t seen_epoch_ = 0;
  bool begun_ = false, over_ = false;
  Clock::Time over_at_{};
  std::optional<Clock::Time> enough_since_;
  bool ending_ = false;
  std::map<ReplicaId, Incarnation> members_;
  std::vector<ReplicaId> in_order_;  // From rank 1 on.
  std::map<ReplicaId, Epoch> epochs_;  // As each member is told.
  Epoch own_epoch_;
  std::string waiting_for_;
  uint64_t view_ = 1;
  bool done_ = false;
  int64_t end_step_ = 0;
};

}  // namespace taas

#endif  // TRAINER_RING_DESK_CORE_H_
