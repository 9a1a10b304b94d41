// Who is here: the processes that have joined the chief, what they said last, who is to be fenced
// and who wants to go. The rules of admission are membership.h's.
//
// Ownership: value type; time comes in with each call. Threads: one at a time. Errors: none.
//
//   const Admittance verdict = roster.Join(request, clock.Now());
//   for (const Roster::Lost& lost : roster.lost()) Fence(lost.pusher);

#ifndef TRAINER_CHIEF_ROSTER_H_
#define TRAINER_CHIEF_ROSTER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "trainer/batches/pusher.h"
#include "trainer/cluster/membership.h"
#include "trainer/cluster/tf_config.h"
#include "trainer/proto/chief.pb.h"
#include "trainer/status/status_board.h"

namespace taas {

class Roster {
 public:
  struct Options {
    ClusterSpec cluster;  // With the chief as self.
    JobIdentity job;
    std::string config_hash;
    std::string data_identity;  // Of the chief's data; "": any will do.
    Incarnation self;
    Clock::Duration silence = kSilenceLimit;  // Who is silent for longer is lost.
  };
  // A process as it calls.
  struct Caller {
    ReplicaId replica;
    Incarnation incarnation;

    explicit Caller(const wire::Identity& identity)
        : replica{identity.role(), identity.index()},
          incarnation{identity.pod_number(), identity.start()} {}
  };
  // Whose gradients must not count any more before its batches go to others.
  struct Lost {
    Pusher pusher;
    std::string name;
  };
  // The batches that were lent last to a member, for a call that is repeated.
  struct Grant {
    uint64_t sequence = 0;
    int64_t generation = 0;
    std::vector<int64_t> batches;
  };

  explicit Roster(Options options);

  Admittance Join(const wire::JoinRequest& request, Clock::Time now);
  Membership::Standing Hear(const Caller& caller, Clock::Time now) {
    return membership_.Hear(caller.replica, caller.incarnation, now);
  }
  // Of a member.
  void Report(const Caller& caller, const wire::Report& report);
  void WantsToGo(const Caller& caller) { going_[caller.replica] = caller.incarnation; }
  // Others do what it has not done, unless all is `done`.
  void Leave(const Caller& caller, bool done);
  // The member that calls, as long as nobody has taken its place; else null.
  const Membership::Member* Find(const Caller& caller) const;
  const Membership::Member* Find(const ReplicaId& replica) const {
    return membership_.Find(replica);
  }
  Grant& grant(const Caller& caller) { return peers_[caller.replica].grant; }

  // Gives up who was silent for too long; of these, those that train.
  std::vector<ReplicaId> Sweep(Clock::Time now);
  Pusher PusherOf(const ReplicaId& replica, const Incarnation& incarnation) const;
  // The chief's own.
  Pusher self() const { return PusherOf(options_.cluster.self, options_.self); }
  // As the holders of the model know it.
  std::string job() const { return JobKey(options_.job); }
  int training_replicas() const {  // That the chief's list has.
    return static_cast<int>(options_.cluster.training_replicas().size());
  }
  // Who may push: the chief itself and the training replicas that are here.
  std::set<Pusher> Training() const;
  const std::vector<Lost>& lost() const { return lost_; }
  void Fenced(const Pusher& pusher);
  // Whoever was lost, or wanted to go, has no part in the generation that begins.
  void StartOver() {
    lost_.clear();
    going_.clear();
  }

  // The parameter servers that want to go, until they are told.
  const std::map<ReplicaId, Incarnation>& going() const { return going_; }
  void ForgetGoing() { going_.clear(); }
  // They have taken leave.
  void LetGo(const std::map<ReplicaId, Incarnation>& going);
  // Whether all replicas have joined and left.
  bool AllLeft() const;

  std::vector<ReplicaId> Missing(const std::string& role) const {
    return membership_.Missing(role);
  }
  // "waiting for ps-0 at 10.0.0.1:2222 (has not joined for 3 s, connection refused)".
  std::string DescribeMissing(const std::vector<ReplicaId>& missing, Clock::Time now);
  // Why nobody answers at the address of one who is missing; "" where somebody does.
  void SetProbe(const ReplicaId& replica, std::string error) {
    probe_errors_[replica] = std::move(error);
  }
  // All but the chief.
  std::vector<PeerStatus> Peers(const Clock& clock) const;

 private:
  struct Peer {
    Grant grant;
    wire::Report report;
  };
  Admittance CheckData(const wire::JoinRequest& request) const;
  void GiveUp(const ReplicaId& replica, const Incarnation& incarnation);
  // Of members that are forgotten.
  void ForgetPeers();
  PeerStatus PeerOf(const ReplicaId& replica, const std::string& address,
                    const Clock& clock) const;

  Options options_;
  Membership membership_;
  std::map<ReplicaId, Peer> peers_;
  std::map<ReplicaId, std::string> probe_errors_;
  std::map<ReplicaId, Clock::Time> missing_since_;
  std::vector<Lost> lost_;
  std::map<ReplicaId, Incarnation> going_;
};

}  // namespace taas

#endif  // TRAINER_CHIEF_ROSTER_H_
