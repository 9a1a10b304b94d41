// Who belongs to the job: the chief's rules of admission, as a pure state machine.
//
// Workers may be more than the chief's TF_CONFIG lists: a job is given more while it runs.
//
// A replica's place is taken by its highest pod number and, within one pod, by the latest start.
// Starts that were replaced are remembered, so that a late packet of one does not throw its
// successor out. Starts that were given up because they were silent are remembered apart: their
// process may still be the right one, and comes back under a new start.
//
// What strangers can make it remember is bounded: workers that nobody listed are forgotten when
// they have gone, but for the newest, and of each replica the newest starts are known.
//
// Ownership: value type; time comes in with each call. Threads: one at a time. Errors: none; a
// refusal is a verdict with a sentence for the one who is refused.
//
//   const Admittance verdict = membership.Join(request, clock.Now());
//   if (verdict.replaced) Fence(*verdict.replaced);

#ifndef TRAINER_CLUSTER_MEMBERSHIP_H_
#define TRAINER_CLUSTER_MEMBERSHIP_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "trainer/comm/greeting.h"
#include "trainer/cluster/tf_config.h"

namespace taas {

// One life of one replica.
struct Incarnation {
  int64_t pod = 0;
  uint64_t start = 0;

  bool operator==(const Incarnation&) const = default;
};

struct JobIdentity {
  std::string uid;
  int64_t attempt = 1;
  std::string token{};  // Empty: none.
};

// What both ends of a bulk connection must agree on, and the token, which is to be in no message.
inline std::string JobKey(const JobIdentity& job) {
  return comm::GreetingText(
      {.job = job.uid + "/" + std::to_string(job.attempt), .token = job.token});
}

struct JoinCall {
  JobIdentity job;
  ReplicaId replica;
  Incarnation incarnation;
  std::string config_hash;
  std::string bulk_address;
};

struct Admittance {
  enum class Verdict { kAccepted, kLater, kRefused };
  Verdict verdict = Verdict::kAccepted;
  std::string sentence;
  // The incarnation that lost its place by this.
  std::optional<Incarnation> replaced;
};

// Where nothing else is said. Five missed heartbeats of 2 s: long enough for a machine that swaps,
// short against a step lost.
constexpr Clock::Duration kSilenceLimit = std::chrono::seconds(10);

// Workers that are there though the chief's list does not have them: as many as a parameter server
// has connections.
constexpr size_t kAddedMax = 1'000;
// Of those that have gone: what /status shows of them is for people.
constexpr size_t kAddedGoneMax = 100;
// Starts of one replica that are known to be over. A packet that is later than so many restarts is
// taken for a new process's, and given up 10 s later.
constexpr size_t kStartsMax = 64;
// Ranks have 16 bits in frames.
constexpr int kIndexMax = 60'000;
// Of pods: the operator counts no further, and frames have 32 bits for it.
constexpr int64_t kPodMax = 1'000'000'000;
// "host:port"; a name has at most 253.
constexpr size_t kAddressBytesMax = 300;

class Membership {
 public:
  enum class Standing { kMember, kUnknown, kReplaced };
  struct Member {
    ReplicaId replica;
    Incarnation incarnation;
    std::string bulk_address;
    Clock::Time joined{};
    Clock::Time heard{};
    bool lost = false;  // Silent for too long; back with the next Join.
    bool left = false;  // Has taken leave: at the end of the job, or told to stop.
  };

  // Who is silent for longer than `silence` is lost.
  Membership(JobIdentity job, std::string config_hash, const ClusterSpec& cluster,
             Clock::Duration silence = kSilenceLimit)
      : job_(std::move(job)),
        config_hash_(std::move(config_hash)),
        cluster_(cluster),
        silence_(silence) {}

  Admittance Join(const JoinCall& call, Clock::Time now);
  // A call of a member: says whether it is one, and that it lives.
  Standing Hear(const ReplicaId& replica, const Incarnation& incarnation, Clock::Time now);
  // Members that were silent for too long since the last Sweep.
  std::vector<Member> Sweep(Clock::Time now);
  void Leave(const ReplicaId& replica, const Incarnation& incarnation);

  const Member* Find(const ReplicaId& replica) const;
  const std::map<ReplicaId, Member>& members() const { return members_; }
  // Replicas of `role` that have not joined, are lost or have left.
  std::vector<ReplicaId> Missing(const std::string& role) const;

 private:
  // The newest.
  class Starts {
   public:
    void Add(uint64_t start);
    bool Has(uint64_t start) const;

   private:
    std::deque<uint64_t> starts_;
  };

  std::optional<Admittance> CheckJob(const JoinCall& call) const;
  std::optional<Admittance> CheckAdded(const JoinCall& call) const;
  bool IsListed(const ReplicaId& replica) const;
  void ForgetGone();

  const JobIdentity job_;
  const std::string config_hash_;
  const ClusterSpec cluster_;
  const Clock::Duration silence_;
  std::map<ReplicaId, Member> members_;
  std::map<ReplicaId, Starts> replaced_starts_;
  std::map<ReplicaId, Starts> silent_starts_;
};

}  // namespace taas

#endif  // TRAINER_CLUSTER_MEMBERSHIP_H_
