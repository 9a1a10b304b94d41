// Where the ranks of an all-reduce come to: the chief, which is rank 0, says who trains together.
//
// An epoch is over as soon as one of its ranks says that it has left it, is replaced, or silent, or
// when another one wants to join; everybody is told at once. The next begins when all who answer
// have ended their step. Who is told of the end and does not answer within a moment is left out: a
// process that was killed answers nothing, and one that was only slow comes to a later epoch.
//
// Ownership: borrows the clock; owns a thread that looks at the time. Threads: the handler's
// methods on any, Next from one, the rest from any; `on_over` is called with the desk's lock held.
// Errors: none of its own; Cancelled from Next once it closes.
//
//   RingDesk desk(clock, {.roster = …, .address = address, .min = 2, .max = 4,
//                         .on_over = [&](uint32_t) { ring.Abort(); }});
//   ASSIGN_OR_RETURN(auto server, ChiefServer::Start(host, port, desk));

#ifndef TRAINER_RING_RING_DESK_H_
#define TRAINER_RING_RING_DESK_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "trainer/chief/roster.h"
#include "trainer/cluster/chief_server.h"
#include "trainer/cluster/membership.h"
#include "trainer/cluster/tf_config.h"
#include "trainer/ring/epoch.h"
#include "trainer/ring/epoch_source.h"
#include "trainer/ring/ring_action.h"
#include "trainer/status/status_board.h"

namespace taas {

// A living process calls again as soon as it is told of the end of an epoch, from a thread that
// does nothing else.
constexpr std::chrono::milliseconds kAnswerMax{100};

class RingDesk : public ChiefHandler, public EpochSource {
 public:
  struct Options {
    Roster::Options roster;
    std::string address;  // Where the chief meets others.
    // Ranks of an epoch, with the chief; where they differ the job is elastic: it goes on with
    // whoever is here, and takes in who comes.
    size_t min = 1, max = 1;
    // For those that the job begins with, once enough are there.
    Clock::Duration gather_max = std::chrono::seconds(30);
    // The chief's own part in this epoch is to end.
    std::function<void(uint32_t epoch)> on_over = [](uint32_t) {};
    // While the chief's own rank waits for an epoch, every now and then: for what.
    std::function<void(const std::string& why)> on_wait = [](const std::string&) {};
    // Whether this process was told to stop.
    std::function<bool()> stopped = [] { return false; };
  };
  RingDesk(const Clock& clock, Options options);
  ~RingDesk() override;

  // ChiefHandler.
  wire::JoinReply Join(const wire::JoinRequest& request) override;
  wire::BeatReply Beat(const wire::BeatRequest& request) override;
  void Leave(const wire::LeaveRequest& request) override;

  // EpochSource of the chief's own rank.
  absl::StatusOr<std::optional<Epoch>> Next(const Standing& standing) override;
  void Outlast() override;

  // All is trained and kept: everybody is told, and leaves.
  void Finish(int64_t step);
  // Whether all ranks of the last epoch have left; waits for it at most so long.
  bool AwaitFarewell(std::chrono::milliseconds patience);
  // "" while an epoch is in force.
  std::string waiting_for();
  std::vector<PeerStatus> Peers();
  // Ends what waits, before whoever serves the calls ends.
  void Close();

 private:
  struct Rank {
    Incarnation incarnation;
    Standing standing;
    bool waiting = false;
    Clock::Time heard{};
  };

  // With the lock held, all.
  void Hear(const Roster::Caller& caller, const wire::BeatRequest& request);
  void Decide();
  RingView Look(Clock::Time now);
  void End(Clock::Time now);
  void Form();
  bool IsRank(const ReplicaId& replica, const Rank& rank) const;
  const Epoch* EpochOf(const Roster::Caller& caller) const;
  void Announce();
  void Watch();
  // For whom, of those who have not joined, while `waiting` ranks are ready.
  std::string DescribeMissing(size_t waiting, Clock::Time now);

  const Clock& clock_;
  const Options options_;
  const std::chrono::milliseconds beat_hold_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Roster roster_;
  std::map<ReplicaId, Rank> ranks_;  // But the chief.
  Standing own_;
  bool own_waiting_ = false;
  uint32_t epoch_ = 0;  // The last; `begun_`: of this chief.
  uint32_t seen_epoch_ = 0;
  bool begun_ = false, over_ = false;
  Clock::Time over_at_{};
  std::optional<Clock::Time> enough_since_;
  std::map<ReplicaId, Incarnation> members_;
  std::map<ReplicaId, Epoch> epochs_;  // As each member is told.
  Epoch own_epoch_;
  std::string waiting_for_;
  uint64_t view_ = 1;
  bool done_ = false, closing_ = false;
  int64_t end_step_ = 0;
  std::thread watch_;
};

}  // namespace taas

#endif  // TRAINER_RING_RING_DESK_H_
