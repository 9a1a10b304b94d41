// One of several processes leads: an election on a Lease object of the cluster.
//
//   candidate ──the lease is free or its holder silent for its duration──▶ leader
//   leader ──Release, when no write is under way──▶ released, and the next takes over at once
//   leader ──not renewed in time, taken, edited or deleted──▶ lost: the process has to end
//
// All times are measured on this process's own clock, from what it did and saw itself: a renewal
// counts from before its request was sent, a holder's silence from when its last change was seen.
// The wall clock stands in the object for people only. A leader's claim, which is the time that its
// write gate is open, ends `renew` after its last renewal, a candidate takes over `lease` after;
// the difference is for writes that are on their way and for clocks that run differently.
//
// The epoch of a leader is the Lease's leaseTransitions: higher than that of every leader before.
//
// Ownership: everything passed in must outlive it; destroying it drops what is under way. Threads:
// the executor's only, but for `state`. Errors: none reach the caller; a candidate tries for ever,
// a leader loses.
//
//   LeaseElector elector(transport, executor, random, gate, options, {.on_lead = …, .on_lost = …});
//   elector.Start();

#ifndef OPERATOR_KUBE_LEASE_ELECTOR_H_
#define OPERATOR_KUBE_LEASE_ELECTOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/executor.h"
#include "operator/base/random.h"
#include "operator/kube/lease.h"
#include "operator/kube/lease_times.h"
#include "operator/kube/transport.h"
#include "operator/kube/write_gate.h"

namespace taas {

class LeaseElector {
 public:
  struct Options {
    LeaseName name;
    std::string identity;  // Of this process, unlike that of any other ever.
    LeaseTimes times;
  };
  struct Calls {
    // Once, with the gate open.
    std::function<void(int64_t epoch)> on_lead;
    // Once, of a leader, with the gate shut. Nothing of this elector's comes after it.
    std::function<void(const std::string& why)> on_lost;
    // The highest epoch that the cluster's objects tell of; the next one must be above. The Lease
    // may have been deleted, or this may be another one than before.
    std::function<int64_t()> known_epoch;
  };

  LeaseElector(KubeTransport& transport, Executor& executor, Random& random, WriteGate& gate,
               Options options, Calls calls);
  ~LeaseElector();
  LeaseElector(const LeaseElector&) = delete;
  LeaseElector& operator=(const LeaseElector&) = delete;

  void Start();
  // Shuts the gate, waits for the writes under way and lets go, so that the next leader need not
  // wait. A lease whose writes do not end, or that cannot be written, is left to run out. `done` is
  // called in any case.
  void Release(std::function<void(absl::Status)> done);
  // Asks the server whether this is the leader still; `yes` is called if so, and on_lost if not.
  void Verify(std::function<void()> yes);

  // From any thread.
  LeaseState state() const;

 private:
  enum class Phase { kCandidate, kLeader, kReleasing, kOver };
  using OnReply = std::function<void(absl::StatusOr<HttpReply>)>;

  void Ask(HttpRequest request, OnReply done);
  void Get(OnReply done);
  // POST if `seen` is null.
  void Put(const Lease* seen, const LeaseClaim& claim, OnReply done);
  LeaseClaim Claim(int64_t transitions, bool acquired) const;
  void After(Clock::Duration delay, std::function<void()> task);

  // Of a candidate.
  void Look();
  void LookLater(std::chrono::seconds at_least = std::chrono::seconds(0));
  void OnLook(const absl::StatusOr<HttpReply>& reply);
  void OnAbsent();
  void Observe(Lease lease);
  // When whoever holds the lease will have been silent for too long.
  Clock::Time SilentAt() const;
  int64_t NextEpoch() const;
  void TakeOver();
  void OnTakeOver(Clock::Time sent, const absl::StatusOr<HttpReply>& reply);
  // Told to stop meanwhile: what was taken is let go.
  void OnTakenInVain(const absl::StatusOr<HttpReply>& reply);

  // Of a leader.
  void Lead(Lease lease, Clock::Time sent);
  // An event on the lease, for people; one that is lost is lost.
  void Announce();
  void Renew();
  void OnRenewal(Clock::Time sent, const absl::StatusOr<HttpReply>& reply);
  void Renewed(Lease lease, Clock::Time sent);
  void RenewLater(Clock::Time sent, const std::string& why);
  // Reads the lease. `done` gets OK if it is ours still, and what kept it from being read; it is
  // not called if it is ours no more.
  void Recheck(std::function<void(const absl::Status& read)> done);
  void OnDeadline();
  void Lose(const std::string& why);

  void AwaitIdle(Clock::Time until);
  void LetGo(int tries_left);
  void EndRelease(const absl::Status& status);

  std::string What(const char* verb) const;
  // Logs each failure once, until it is another.
  void Failed(const std::string& why);
  void Publish(bool leads, Clock::Time renewed);

  KubeTransport& transport_;
  Executor& executor_;
  Random& random_;
  WriteGate& gate_;
  const Options options_;
  const Calls calls_;

  Phase phase_ = Phase::kCandidate;
  // Replies to what was asked in an earlier phase come too late.
  std::shared_ptr<uint64_t> round_ = std::make_shared<uint64_t>(0);
  Executor::TimerId timer_ = 0;
  Executor::TimerId deadline_ = 0;

  std::optional<Lease> seen_;  // As it was read or written last.
  bool exists_ = false;        // The last look found it; else `seen_` is what was deleted.
  Clock::Time changed_{};      // When its spec was seen to have changed.
  int64_t highest_ = 0;        // Of all transitions seen.
  int64_t epoch_ = 0;          // Of ours.
  Clock::Time until_{};        // Of our claim.
  bool conflicted_ = false;    // The last renewal lost a race.
  bool taking_ = false;        // A take-over is under way.
  bool verifying_ = false;
  std::string last_failure_;
  std::function<void(absl::Status)> released_;

  mutable std::mutex mutex_;
  LeaseState state_;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_LEASE_ELECTOR_H_
