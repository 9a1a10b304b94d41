#include "operator/kube/lease_elector.h"

#include <algorithm>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "operator/kube/api_error.h"
#include "operator/kube/api_path.h"
#include "operator/kube/resource_version.h"

namespace taas {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A leader makes this many attempts at a renewal before it gives up, even if each hangs.
constexpr int kAttempts = 3;
// A candidate looks at the lease after these parts of `retry`, at random between them: often enough
// to take a released lease within `retry`.
constexpr double kLookMin = 0.5;
constexpr double kLookMax = 0.75;
// Candidates do not come at once to a lease whose holder has gone.
constexpr milliseconds kTakeOverSpread{100};
// A renewal that failed late is tried again after this.
constexpr milliseconds kRenewPause{100};
// Writes under way that have not ended by then are not waited for: a pod's grace is 30 s.
constexpr seconds kDrainLimit{5};
constexpr milliseconds kDrainPoll{5};
constexpr seconds kReleaseTimeout{2};
constexpr int kReleaseTries = 3;
// A released lease lasts this long: the least that the API takes.
constexpr seconds kReleasedDuration{1};

// An epoch that objects tell of and that is so far above the lease's is a forgery, which must not
// use epochs up; leaders do not change a million times while a cluster lives.
constexpr int64_t kEpochJumpMax = 1'000'000;

bool IsConflict(const absl::StatusOr<HttpReply>& reply) {
  return reply.ok() && reply->code == 409;
}

std::string MillisecondsText(Clock::Duration time) {
  return std::to_string(std::chrono::duration_cast<milliseconds>(time).count()) + " ms";
}

}  // namespace

LeaseElector::LeaseElector(KubeTransport& transport, Executor& executor, Random& random,
                           WriteGate& gate, Options options, Calls calls)
    : transport_(transport),
      executor_(executor),
      random_(random),
      gate_(gate),
      options_(std::move(options)),
      calls_(std::move(calls)) {}

LeaseElector::~LeaseElector() {
  executor_.Cancel(timer_);
  executor_.Cancel(deadline_);
}

std::string LeaseElector::What(const char* verb) const {
  return std::string(verb) + " lease " + options_.name.ns + "/" + options_.name.name;
}

void LeaseElector::Failed(const std::string& why) {
  if (why != last_failure_) Log(LogLevel::kWarning, why);
  last_failure_ = why;
}

void LeaseElector::Publish(bool leads, Clock::Time renewed) {
  std::lock_guard lock(mutex_);
  state_ = {.leads = leads,
            .epoch = leads ? epoch_ : 0,
            .holder = exists_ && seen_.has_value() ? seen_->holder : "",
            .renewed = renewed};
}

LeaseState LeaseElector::state() const {
  std::lock_guard lock(mutex_);
  return state_;
}

void LeaseElector::Ask(HttpRequest request, OnReply done) {
  request.timeout = phase_ == Phase::kReleasing ? milliseconds(kReleaseTimeout)
                                                : milliseconds(options_.times.renew) / kAttempts;
  transport_.Do(std::move(request), [round = std::weak_ptr<uint64_t>(round_), asked = *round_,
                                     done = std::move(done)](absl::StatusOr<HttpReply> reply) {
    const auto now = round.lock();
    if (now != nullptr && *now == asked) done(std::move(reply));
  });
}

void LeaseElector::Get(OnReply done) {
  Ask({.path = ObjectPath(Resource::kLeases, options_.name.ns, options_.name.name)},
      std::move(done));
}

void LeaseElector::Put(const Lease* seen, const LeaseClaim& claim, OnReply done) {
  HttpRequest request{.verb = seen == nullptr ? Verb::kPost : Verb::kPut};
  request.path = seen == nullptr
                     ? CollectionPath(Resource::kLeases, options_.name.ns)
                     : ObjectPath(Resource::kLeases, options_.name.ns, options_.name.name);
  request.body = EncodeLease(options_.name, seen, claim);
  Ask(std::move(request), std::move(done));
}

LeaseClaim LeaseElector::Claim(int64_t transitions, bool acquired) const {
  return {.holder = options_.identity,
          .duration = options_.times.lease,
          .transitions = transitions,
          .renewed = executor_.clock().WallNow(),
          .acquired = acquired};
}

void LeaseElector::After(Clock::Duration delay, std::function<void()> task) {
  executor_.Cancel(timer_);
  timer_ = executor_.PostAfter(delay, std::move(task));
}

void LeaseElector::Start() {
  if (phase_ == Phase::kCandidate) Look();
}

// --- A candidate.

void LeaseElector::Look() {
  Get([this](const absl::StatusOr<HttpReply>& reply) { OnLook(reply); });
}

void LeaseElector::LookLater(seconds at_least) {
  const double part = kLookMin + (kLookMax - kLookMin) * random_.Unit();
  auto delay = std::chrono::duration_cast<Clock::Duration>(options_.times.retry * part);
  const Clock::Time now = executor_.clock().Now();
  if (seen_.has_value() && !seen_->holder.empty() && SilentAt() > now) {
    const auto spread = std::chrono::duration_cast<Clock::Duration>(
        kTakeOverSpread * random_.Unit());
    delay = std::min(delay, SilentAt() + spread - now);
  }
  After(std::max(delay, Clock::Duration(at_least)), [this] { Look(); });
}

void LeaseElector::OnLook(const absl::StatusOr<HttpReply>& reply) {
  if (reply.ok() && reply->code == 404) return OnAbsent();
  const absl::Status status =
      reply.ok() ? StatusOfReply(*reply, What("read")) : Annotate(reply.status(), What("read"));
  if (!status.ok()) {
    Failed(std::string(status.message()));
    return LookLater(reply.ok() ? reply->retry_after : seconds(0));
  }
  absl::StatusOr<Lease> lease = DecodeLease(reply->body);
  if (!lease.ok()) {
    Failed(What("read") + ": " + std::string(lease.status().message()));
    return LookLater();
  }
  last_failure_.clear();
  Observe(*std::move(lease));
  const bool free = seen_->holder.empty() || seen_->holder == options_.identity;
  if (free || executor_.clock().Now() >= SilentAt()) return TakeOver();
  LookLater();
}

void LeaseElector::OnAbsent() {
  exists_ = false;
  last_failure_.clear();
  Publish(/*leads=*/false, {});
  // Deleted under a holder who does not know yet and may write until its claim ends.
  const bool held = seen_.has_value() && !seen_->holder.empty();
  if (held && executor_.clock().Now() < SilentAt()) return LookLater();
  TakeOver();
}

void LeaseElector::Observe(Lease lease) {
  const bool same = exists_ && seen_.has_value() && seen_->uid == lease.uid &&
                    seen_->spec == lease.spec &&
                    !IsLater(seen_->resource_version, lease.resource_version);
  const bool another = !exists_ || !seen_.has_value() || seen_->holder != lease.holder;
  if (!same) changed_ = executor_.clock().Now();
  if (lease.transitions < kEpochMax) highest_ = std::max(highest_, lease.transitions);
  exists_ = true;
  seen_ = std::move(lease);
  Publish(/*leads=*/false, {});
  if (another && !seen_->holder.empty() && seen_->holder != options_.identity) {
    Log(LogLevel::kInfo, "another process leads",
        {{"holder", seen_->holder}, {"epoch", std::to_string(seen_->transitions)}});
  }
}

Clock::Time LeaseElector::SilentAt() const {
  return changed_ + std::max(seen_->duration, options_.times.lease);
}

int64_t LeaseElector::NextEpoch() const {
  const int64_t known = calls_.known_epoch();
  const int64_t last = known > highest_ + kEpochJumpMax ? highest_ : std::max(highest_, known);
  return std::min(last + 1, kEpochMax - 1);
}

void LeaseElector::TakeOver() {
  // Ours already: the reply to the write that took it was lost.
  const bool ours = exists_ && seen_->holder == options_.identity;
  const int64_t epoch = ours ? seen_->transitions : NextEpoch();
  const Clock::Time sent = executor_.clock().Now();
  taking_ = true;
  Put(exists_ ? &*seen_ : nullptr, Claim(epoch, !ours),
      [this, sent](const absl::StatusOr<HttpReply>& reply) { OnTakeOver(sent, reply); });
}

void LeaseElector::OnTakeOver(Clock::Time sent, const absl::StatusOr<HttpReply>& reply) {
  taking_ = false;
  if (phase_ == Phase::kReleasing) return OnTakenInVain(reply);
  const absl::Status status =
      reply.ok() ? StatusOfReply(*reply, What("take")) : Annotate(reply.status(), What("take"));
  if (!status.ok()) {
    // Another was faster.
    if (!IsConflict(reply)) Failed(std::string(status.message()));
    return LookLater(reply.ok() ? reply->retry_after : seconds(0));
  }
  absl::StatusOr<Lease> lease = DecodeLease(reply->body);
  if (!lease.ok()) {
    Failed(What("take") + ": " + std::string(lease.status().message()));
    return LookLater();
  }
  // Too late to begin with; the next look finds it ours.
  if (executor_.clock().Now() >= sent + options_.times.renew) return LookLater();
  Lead(*std::move(lease), sent);
}

void LeaseElector::OnTakenInVain(const absl::StatusOr<HttpReply>& reply) {
  absl::StatusOr<Lease> lease =
      reply.ok() && reply->code < 300 ? DecodeLease(reply->body)
                                      : absl::NotFoundError(What("take") + ": not taken");
  if (!lease.ok()) return EndRelease(absl::OkStatus());
  epoch_ = lease->transitions;
  seen_ = *std::move(lease);
  LetGo(kReleaseTries);
}

// --- A leader.

void LeaseElector::Lead(Lease lease, Clock::Time sent) {
  phase_ = Phase::kLeader;
  epoch_ = lease.transitions;
  exists_ = true;
  Renewed(std::move(lease), sent);
  Log(LogLevel::kInfo, "this process leads",
      {{"lease", options_.name.ns + "/" + options_.name.name},
       {"identity", options_.identity},
       {"epoch", std::to_string(epoch_)}});
  calls_.on_lead(epoch_);
  Announce();
}

void LeaseElector::Announce() {
  HttpRequest request{.verb = Verb::kPost,
                      .path = CollectionPath(Resource::kEvents, options_.name.ns)};
  request.body = EncodeLeaderEvent(options_.name, *seen_, executor_.clock().WallNow());
  request.timeout = milliseconds(options_.times.renew);
  transport_.Do(std::move(request), [what = What("create event of")](
                                        const absl::StatusOr<HttpReply>& reply) {
    const absl::Status status =
        reply.ok() ? StatusOfReply(*reply, what) : Annotate(reply.status(), what);
    if (!status.ok()) Log(LogLevel::kDebug, std::string(status.message()));
  });
}

void LeaseElector::Renewed(Lease lease, Clock::Time sent) {
  seen_ = std::move(lease);
  until_ = sent + options_.times.renew;
  conflicted_ = false;
  last_failure_.clear();
  gate_.OpenUntil(until_);
  Publish(/*leads=*/true, sent);
  const Clock::Time now = executor_.clock().Now();
  executor_.Cancel(deadline_);
  deadline_ = executor_.PostAfter(until_ - now, [this] { OnDeadline(); });
  After(sent + options_.times.retry - now, [this] { Renew(); });
}

void LeaseElector::Renew() {
  const Clock::Time sent = executor_.clock().Now();
  if (sent >= until_) return OnDeadline();
  Put(&*seen_, Claim(epoch_, /*acquired=*/false),
      [this, sent](const absl::StatusOr<HttpReply>& reply) { OnRenewal(sent, reply); });
}

void LeaseElector::OnRenewal(Clock::Time sent, const absl::StatusOr<HttpReply>& reply) {
  // 404: perhaps the namespace is gone.
  if (IsConflict(reply) || (reply.ok() && reply->code == 404)) {
    return Recheck([this, sent](const absl::Status& read) {
      if (!read.ok()) return RenewLater(sent, std::string(read.message()));
      // Somebody changed what is not the election's, or the reply to our last renewal was lost.
      if (conflicted_) return RenewLater(sent, What("renew") + ": it is changed again and again");
      conflicted_ = true;
      Renew();
    });
  }
  const absl::Status status =
      reply.ok() ? StatusOfReply(*reply, What("renew")) : Annotate(reply.status(), What("renew"));
  if (!status.ok()) return RenewLater(sent, std::string(status.message()));
  absl::StatusOr<Lease> lease = DecodeLease(reply->body);
  if (!lease.ok()) {
    return RenewLater(sent, What("renew") + ": " + std::string(lease.status().message()));
  }
  if (IsLater(seen_->resource_version, lease->resource_version)) {
    return Lose("the lease's version went back from " + seen_->resource_version + " to " +
                lease->resource_version + ": the API server's data were restored");
  }
  if (executor_.clock().Now() >= sent + options_.times.renew) return OnDeadline();
  Renewed(*std::move(lease), sent);
}

void LeaseElector::RenewLater(Clock::Time sent, const std::string& why) {
  Failed(why);
  const Clock::Duration left = sent + options_.times.retry - executor_.clock().Now();
  After(std::max(left, Clock::Duration(kRenewPause)), [this] { Renew(); });
}

void LeaseElector::Recheck(std::function<void(const absl::Status& read)> done) {
  // A renewal may overtake this read.
  Get([this, done = std::move(done), before = seen_->resource_version](
          const absl::StatusOr<HttpReply>& reply) {
    if (reply.ok() && reply->code == 404) return Lose("the lease was deleted");
    const absl::Status status =
        reply.ok() ? StatusOfReply(*reply, What("read")) : Annotate(reply.status(), What("read"));
    if (!status.ok()) return done(status);
    absl::StatusOr<Lease> lease = DecodeLease(reply->body);
    if (!lease.ok()) return done(Annotate(lease.status(), What("read")));
    if (IsLater(before, lease->resource_version)) {
      return Lose("the lease's version went back from " + before + " to " +
                  lease->resource_version + ": the API server's data were restored");
    }
    if (lease->holder != options_.identity) {
      return Lose(lease->holder.empty() ? "the lease was taken from this process"
                                        : "the lease is held by " + lease->holder);
    }
    if (lease->transitions != epoch_) {
      return Lose("the lease's transitions were changed from " + std::to_string(epoch_) + " to " +
                  std::to_string(lease->transitions));
    }
    if (!IsLater(seen_->resource_version, lease->resource_version)) seen_ = *std::move(lease);
    done(absl::OkStatus());
  });
}

void LeaseElector::Verify(std::function<void()> yes) {
  if (phase_ != Phase::kLeader || verifying_) return;
  verifying_ = true;
  Recheck([this, yes = std::move(yes)](const absl::Status& read) {
    verifying_ = false;
    if (read.ok()) return yes();
    Failed(std::string(read.message()));
  });
}

void LeaseElector::OnDeadline() {
  if (phase_ != Phase::kLeader) return;
  const std::string why =
      last_failure_.empty() ? "this process or its machine stood still" : last_failure_;
  Lose("the lease was not renewed for " + MillisecondsText(options_.times.renew) + ": " + why);
}

void LeaseElector::Lose(const std::string& why) {
  phase_ = Phase::kOver;
  ++*round_;
  executor_.Cancel(timer_);
  executor_.Cancel(deadline_);
  gate_.Shut();
  Publish(/*leads=*/false, {});
  Log(LogLevel::kError, "this process leads no more",
      {{"lease", options_.name.ns + "/" + options_.name.name}, {"why", why}});
  calls_.on_lost(why);
}

// --- The end of a leader that is told to stop.

void LeaseElector::Release(std::function<void(absl::Status)> done) {
  const bool leads = phase_ == Phase::kLeader;
  executor_.Cancel(timer_);
  executor_.Cancel(deadline_);
  gate_.Shut();
  released_ = std::move(done);
  if (!leads && !taking_) return EndRelease(absl::OkStatus());
  phase_ = Phase::kReleasing;
  if (taking_) return;
  ++*round_;
  AwaitIdle(executor_.clock().Now() + kDrainLimit);
}

void LeaseElector::AwaitIdle(Clock::Time until) {
  const int under_way = gate_.under_way();
  if (under_way == 0) return LetGo(kReleaseTries);
  if (executor_.clock().Now() >= until) {
    return EndRelease(absl::UnavailableError(
        What("release") + ": " + std::to_string(under_way) +
        " writes are still under way, so it is left to run out"));
  }
  After(kDrainPoll, [this, until] { AwaitIdle(until); });
}

void LeaseElector::LetGo(int tries_left) {
  LeaseClaim claim = Claim(epoch_, /*acquired=*/true);
  claim.holder.clear();
  claim.duration = kReleasedDuration;
  Put(&*seen_, claim, [this, tries_left](const absl::StatusOr<HttpReply>& reply) {
    if (!IsConflict(reply) || tries_left <= 1) {
      return EndRelease(reply.ok() ? StatusOfReply(*reply, What("release"))
                                   : Annotate(reply.status(), What("release")));
    }
    // A renewal that was under way came first.
    Get([this, tries_left](const absl::StatusOr<HttpReply>& read) {
      absl::StatusOr<Lease> lease =
          read.ok() && read->code == 200 ? DecodeLease(read->body)
                                         : absl::UnavailableError(What("release") + ": no answer");
      if (!lease.ok()) return EndRelease(lease.status());
      const bool ours = lease->holder == options_.identity && lease->transitions == epoch_;
      if (!ours) return EndRelease(absl::OkStatus());
      seen_ = *std::move(lease);
      LetGo(tries_left - 1);
    });
  });
}

void LeaseElector::EndRelease(const absl::Status& status) {
  phase_ = Phase::kOver;
  ++*round_;
  Publish(/*leads=*/false, {});
  if (released_) std::exchange(released_, nullptr)(status);
}

}  // namespace taas
