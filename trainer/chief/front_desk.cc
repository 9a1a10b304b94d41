#include "trainer/chief/front_desk.h"

#include <algorithm>
#include <chrono>

#include "operator/base/log.h"
#include "trainer/chief/desk_replies.h"
#include "trainer/ps/configure_check.h"

namespace taas {
namespace {

// How long a heartbeat is held when there is nothing to say; five of them missed and a member is
// lost.
constexpr std::chrono::milliseconds kBeatHold{2'000};
// Lines in the log about replicas that are not admitted.
constexpr Clock::Duration kComplainEvery = std::chrono::seconds(2);
// Of a name that a stranger gives.
constexpr size_t kShownNameMax = 64;
// A parameter server counts generations from 1, a few a minute at the worst. Above this one is not
// believed: the next would be one that frames cannot name.
constexpr int64_t kGenerationBelieved = ps::kGenerationMax / 2;

}  // namespace

FrontDesk::FrontDesk(const Clock& clock, Roster::Options options)
    : clock_(clock), state_(std::move(options)) {}

FrontDesk::~FrontDesk() {
  std::lock_guard lock(mutex_);
  closing_ = true;
  changed_.notify_all();
}

wire::JoinReply FrontDesk::Join(const wire::JoinRequest& request) {
  const Roster::Caller caller(request.identity());
  const Notice notice(*this);
  const Clock::Time now = clock_.Now();
  const Admittance verdict = state_.roster.Join(request, now);
  wire::JoinReply reply = ReplyOf(verdict);
  if (verdict.verdict != Admittance::Verdict::kAccepted) {
    // One that calls again and again, or under ever new names, must not fill the log.
    if (now >= next_complaint_) {
      next_complaint_ = now + kComplainEvery;
      Log(LogLevel::kWarning, "replica not admitted",
          {{"replica", caller.replica.name().substr(0, kShownNameMax)},
           {"why", verdict.sentence}});
    }
    return reply;
  }
  if (caller.replica.role == "ps" && request.last_generation() <= kGenerationBelieved) {
    state_.seen_generation = std::max(state_.seen_generation, request.last_generation());
  }
  Log(LogLevel::kInfo, "replica joined",
      {{"replica", caller.replica.name()},
       {"pod", std::to_string(caller.incarnation.pod)},
       {"address", request.bulk_address()}});
  state_.Wake();
  return reply;
}

wire::BeatReply FrontDesk::Beat(const wire::BeatRequest& request) {
  const Roster::Caller caller(request.identity());
  Notice notice(*this);
  Roster& roster = state_.roster;
  const Pusher pusher = roster.PusherOf(caller.replica, caller.incarnation);
  Membership::Standing standing = roster.Hear(caller, clock_.Now());
  if (standing == Membership::Standing::kMember) {
    if (request.has_report()) roster.Report(caller, request.report());
    const auto news = [&] {
      const Membership::Member* const member = roster.Find(caller);
      return closing_ || state_.done || !state_.failure.ok() ||
             state_.view != request.seen_view() || (request.wanted() > 0 && HasWork(pusher)) ||
             member == nullptr || member->left;
    };
    if (request.wants_to_go() && caller.replica.role == "ps") roster.WantsToGo(caller);
    changed_.wait_for(notice.lock(), kBeatHold, news);
    standing = roster.Hear(caller, clock_.Now());
  }
  if (standing != Membership::Standing::kMember) return ReplyToNoMember(standing, caller.replica);
  wire::BeatReply reply;
  const bool has_left = roster.Find(caller)->left;
  FillWork(request, pusher, has_left, &reply);
  reply.set_may_go(has_left);
  return reply;
}

void FrontDesk::FillWork(const wire::BeatRequest& request, const Pusher& pusher, bool has_left,
                         wire::BeatReply* reply) {
  reply->set_view(state_.view);
  reply->set_generation(state_.generation);
  const bool ready = state_.ready && MayTrain(pusher);
  reply->set_ready(ready);
  reply->set_done(state_.done);
  if (state_.done) reply->set_step(state_.end_step);
  reply->set_waiting_for(state_.waiting_for);
  reply->set_shards_give_batches(state_.aggregate > 0);
  for (const std::string& shard : state_.shards) reply->add_shards(shard);
  // What is lent to one that has left would come back to nobody.
  if (request.wanted() <= 0 || !ready || state_.aggregate > 0 || has_left) return;
  Roster::Grant& grant = state_.roster.grant(Roster::Caller(request.identity()));
  // Overtaken on its way by a later call: nobody waits for the answer.
  if (request.lease_sequence() < grant.sequence) return;
  // A call whose answer was lost is repeated: it gets the batches that are lent to it already. If
  // nothing was lent, the next call with this number may get some.
  const bool repeated = grant.sequence == request.lease_sequence() &&
                        grant.generation == state_.generation && !grant.batches.empty();
  if (!repeated) {
    grant = {request.lease_sequence(), state_.generation, Lend(pusher, request.wanted())};
  }
  for (const int64_t batch : grant.batches) reply->add_batches(batch);
}

std::vector<int64_t> FrontDesk::Lend(const Pusher& pusher, int wanted) {
  state_.leases.Finish(pusher);
  return state_.leases.Grant(pusher, wanted, state_.roster.training_replicas());
}

void FrontDesk::Leave(const wire::LeaveRequest& request) {
  const Notice notice(*this);
  state_.roster.Leave(Roster::Caller(request.identity()), state_.done);
  state_.Wake();
}

bool FrontDesk::MayTrain(const Pusher& pusher) const {
  return state_.named.contains(pusher) || static_cast<int32_t>(pusher.rank) < 0;
}

bool FrontDesk::HasWork(const Pusher& pusher) const {
  return state_.ready && MayTrain(pusher) &&
         (state_.aggregate > 0 || state_.leases.available());
}

absl::StatusOr<Work> FrontDesk::Next() {
  Lock lock(mutex_);
  const Pusher self = state_.roster.self();
  const auto over = [this] { return closing_ || state_.trained; };
  changed_.wait(lock, [&] { return over() || !state_.failure.ok() || HasWork(self); });
  if (!state_.failure.ok()) return state_.failure;
  if (over()) return Work{.done = true};
  Work work{.generation = state_.generation,
            .shards = state_.shards,
            .pusher = self,
            .job = state_.roster.job(),
            .from_shards = state_.aggregate > 0,
            .batches = {}};
  if (!work.from_shards) work.batches = Lend(self, kGrantMax);
  return work;
}

bool FrontDesk::StillCurrent(int64_t generation, const Pusher&) {
  std::lock_guard lock(mutex_);
  return !closing_ && state_.failure.ok() && generation == state_.generation && !state_.trained;
}

void FrontDesk::Fail(const absl::Status& status) {
  const Notice notice(*this);
  if (state_.failure.ok()) state_.failure = status;
  state_.Wake();
}

}  // namespace taas
