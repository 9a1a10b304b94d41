// What a process of the simulation tells and is told: as trainer/replica/member.cc does it for a
// worker, and ring_desk.cc for the chief.

#include <algorithm>
#include <chrono>
#include <utility>

#include "trainer/proto/chief.pb.h"
#include "trainer/ring/testing/sim_process.h"

namespace taas::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// As chief_client.cc, ring_desk.cc, member.cc and ring_roles.cc have them.
constexpr milliseconds kCallPatience{1'000}, kBeatPatience{5'000};
constexpr milliseconds kBeatHold{2'000};
constexpr milliseconds kLook{20}, kLookForAnswers{2};
constexpr milliseconds kRetryFirst{20}, kRetryMax{250};
constexpr milliseconds kNoNewsPause{20};
constexpr seconds kFarewell{5};

}  // namespace

// `serve` in the chief's process, `back` here: with nothing where the chief is gone, or silent for
// longer than the caller's patience. A call that was given up may still be served, later.
void SimProcess::Call(Clock::Duration patience,
                      std::function<void(SimProcess& chief, Answer answer)> serve,
                      std::function<void(const Reply* reply)> back) {
  auto over = std::make_shared<bool>(false);
  const auto self = weak_from_this();
  // Who is frozen hears of it afterwards.
  const auto end_later = [self, over, back = std::move(back)](const Reply* reply) {
    std::optional<Reply> kept;
    if (reply != nullptr) kept = *reply;
    In(self, [over, back, kept] {
      if (!std::exchange(*over, true)) back(kept ? &*kept : nullptr);
    });
  };
  world_.events().In(patience, [end_later] { end_later(nullptr); });
  Network& network = world_.network();
  network.Message(host_, 0, [self, end_later, &network, host = host_, world = &world_,
                             called = std::weak_ptr(world_.Chief()),
                             until = world_.events().now() + patience,
                             serve = std::move(serve)] {
    const auto fails = [end_later, &network, host] {
      network.Message(0, host, [end_later] { end_later(nullptr); });
    };
    const auto chief = world->Chief();
    if (chief == nullptr || chief->dead_) return fails();
    // What was sent to one chief does not come to another: that takes a new connection, which is
    // made for calls that are waited for.
    if (chief != called.lock() && world->events().now() > until) return;
    chief->when_dead_.push_back(fails);
    In(chief, [chief = chief.get(), serve, end_later, &network, host] {
      serve(*chief, [end_later, &network, host](const Reply& reply) {
        network.Message(0, host, [end_later, reply] { end_later(&reply); });
      });
    });
  });
}

void SimProcess::ServeJoin(const wire::JoinRequest& request, const Answer& answer) {
  const Admittance verdict = desk_->Join(request, world_.events().now());
  Reply reply{.sentence = verdict.sentence};
  if (verdict.verdict == Admittance::Verdict::kLater) reply.verdict = Reply::Verdict::kLater;
  if (verdict.verdict == Admittance::Verdict::kRefused) reply.verdict = Reply::Verdict::kRefused;
  answer(reply);
  Settle();
}

void SimProcess::ServeBeat(const Roster::Caller& caller,
                           const std::optional<DeskCore::Waiting>& waiting, uint64_t seen_view,
                           const Answer& answer) {
  const Clock::Time now = world_.events().now();
  if (desk_->Hear(caller, now) != Membership::Standing::kMember) return answer(ReplyTo(caller));
  desk_->Tell(caller, waiting, now);
  const uint64_t number = ++held_number_;
  held_.push_back({caller, seen_view, number, answer});
  At(kBeatHold, [this, number] {
    const auto held = std::ranges::find(held_, number, &Held::number);
    if (held == held_.end()) return;
    const Held due = std::move(*held);
    held_.erase(held);
    due.answer(ReplyTo(due.caller));
  });
  Settle();
}

void SimProcess::ServeLeave(const Roster::Caller& caller, const Answer& answer) {
  desk_->Leave(caller, world_.events().now());
  answer({});
  Settle();
}

SimProcess::Reply SimProcess::ReplyTo(const Roster::Caller& caller) {
  Reply reply{.chief = pod_};
  switch (desk_->Hear(caller, world_.events().now())) {
    case Membership::Standing::kMember: break;
    case Membership::Standing::kUnknown: reply.verdict = Reply::Verdict::kJoinAgain; return reply;
    case Membership::Standing::kReplaced: reply.verdict = Reply::Verdict::kSuperseded; return reply;
  }
  reply.watched = {.view = desk_->view(), .done = desk_->done()};
  if (const Epoch* const epoch = desk_->EpochOf(caller)) {
    reply.epoch = *epoch;
    reply.watched.epoch = epoch->number;
  }
  return reply;
}

void SimProcess::Look() {
  desk_->Look(world_.events().now());
  Settle();
  if (!dead_) At(desk_->ending() ? kLookForAnswers : kLook, [this] { Look(); });
}

// What the desk has decided is told.
void SimProcess::Settle() {
  if (dead_) return;
  if (desk_->in_force() > formed_) {
    formed_ = desk_->in_force();
    const JobShape& shape = world_.shape();
    world_.ledger().OnFormed({pod_, formed_}, *desk_->own_epoch(),
                             {.min = static_cast<int>(shape.min),
                              .max = static_cast<int>(shape.max),
                              .max_steps = shape.max_steps});
    world_.Tell(name() + " forms epoch " + std::to_string(formed_) + " of " +
                std::to_string(desk_->own_epoch()->ranks()));
  }
  if (const auto over = desk_->TakeOver()) OnOver(*over);
  std::vector<Held> kept, told;
  for (Held& held : held_) {
    const bool news =
        desk_->done() || desk_->view() != held.seen_view || !desk_->Awaits(held.caller);
    (news ? told : kept).push_back(std::move(held));
  }
  held_ = std::move(kept);
  for (const Held& held : told) held.answer(ReplyTo(held.caller));
  if (awaits_ && (desk_->done() || desk_->own_epoch() != nullptr)) {
    awaits_ = false;
    At(world_.network().Between(microseconds(0), microseconds(200)), [this] { TakeOwnEpoch(); });
  }
  if (farewell_ && desk_->AllLeft()) Exit(0);
}

void SimProcess::TakeOwnEpoch() {
  if (desk_->done()) return rank_.Join(std::nullopt);
  epoch_name_ = {pod_, desk_->own_epoch()->number};
  rank_.Join(*desk_->own_epoch());
  Proceed();
}

// The chief has made all steps: it evaluates, saves, and tells everybody.
void SimProcess::Finish() {
  At(world_.network().Between(milliseconds(1), milliseconds(20)), [this] {
    if (world_.shape().checkpoint_steps > 0) {
      world_.checkpoint() = Checkpoint{rank_.standing(), model_.Bits()};
    }
    if (!Reaches(Phase::kFinishes)) return;
    world_.ledger().OnEnd(rank_.standing(), world_.shape().max_steps, model_.Bits());
    desk_->Finish(rank_.standing().step);
    Settle();
    if (!Reaches(Phase::kSaysDone)) return;
    farewell_ = true;
    At(kFarewell, [this] { Exit(0); });
    Settle();
  });
}

wire::Identity SimProcess::Identity() const {
  wire::Identity identity;
  identity.set_job_uid("uid");
  identity.set_role("worker");
  identity.set_index(host_ - 1);
  identity.set_attempt(1);
  identity.set_pod_number(pod_);
  identity.set_start(start_);
  return identity;
}

void SimProcess::JoinChief(Then then) {
  joining_ = true;
  wire::JoinRequest request;
  *request.mutable_identity() = Identity();
  request.set_config_hash("config");
  request.set_bulk_address(address_);
  Call(kCallPatience,
       [request](SimProcess& chief, const Answer& answer) { chief.ServeJoin(request, answer); },
       [this, then = std::move(then)](const Reply* reply) {
         if (reply != nullptr && reply->verdict == Reply::Verdict::kRefused) {
           world_.ledger().Break(name() + " is refused: " + reply->sentence);
           return Exit(1);
         }
         if (reply == nullptr || reply->verdict == Reply::Verdict::kLater) {
           if (reply != nullptr) start_ = world_.random().Next();
           return At(world_.network().Between(kRetryFirst, kRetryMax),
                     [this, then] { JoinChief(then); });
         }
         joining_ = false;
         then();
         for (const Then& other : std::exchange(when_joined_, {})) {
           if (!dead_) other();
         }
       });
}

void SimProcess::Heartbeat() {
  if (dead_ || done_) return;
  const uint64_t seen = watch_.view(), start = start_;
  const Clock::Time asked = world_.events().now();
  Call(kBeatPatience,
       [caller = Roster::Caller(Identity()), seen](SimProcess& chief, const Answer& answer) {
         chief.ServeBeat(caller, std::nullopt, seen, answer);
       },
       [this, seen, start, asked](const Reply* reply) {
         if (reply == nullptr) {
           return At(world_.network().Between(kRetryFirst, kRetryMax), [this] { Heartbeat(); });
         }
         const bool news = reply->watched.view != seen ||
                           world_.events().now() - asked >= kNoNewsPause;
         Learn(*reply, start, [this, news] {
           At(news ? Clock::Duration(0) : kNoNewsPause, [this] { Heartbeat(); });
         });
       });
}

// As Member::Next.
void SimProcess::AskEpoch() {
  if (!Reaches(Phase::kAsks)) return;
  if (desk_) {
    awaits_ = true;
    desk_->OwnWaits(rank_.standing(), rank_.lost(), world_.events().now());
    return Settle();
  }
  watch_.Leave();
  if (done_) {
    rank_.Join(std::nullopt);
    return Proceed();
  }
  const uint64_t seen = watch_.view(), start = start_;
  const Clock::Time asked = world_.events().now();
  const DeskCore::Waiting waiting{
      .standing = rank_.standing(), .epoch = watch_.epoch(), .lost = rank_.lost()};
  Call(kBeatPatience,
       [caller = Roster::Caller(Identity()), waiting, seen](SimProcess& chief,
                                                            const Answer& answer) {
         chief.ServeBeat(caller, waiting, seen, answer);
       },
       [this, seen, start, asked](const Reply* reply) {
         if (reply == nullptr) return At(kRetryFirst, [this] { AskEpoch(); });
         const bool news = reply->watched.view != seen ||
                           world_.events().now() - asked >= kNoNewsPause;
         Learn(*reply, start, [this, news, start, reply = *reply] {
           if (reply.verdict != Reply::Verdict::kKnown) return AskEpoch();
           if (!reply.epoch || reply.epoch->number <= watch_.epoch()) {
             return At(news ? Clock::Duration(0) : kNoNewsPause, [this] { AskEpoch(); });
           }
           if (start_ != start || !watch_.Enter(reply.watched)) return AskEpoch();
           epoch_name_ = {reply.chief, reply.epoch->number};
           rank_.Join(reply.epoch);
           Proceed();
         });
       });
}

void SimProcess::Learn(const Reply& reply, uint64_t asked_start, const Then& then) {
  // What is said of a start that was given up says nothing about the present one.
  if (start_ != asked_start) {
    if (!joining_) return then();
    when_joined_.push_back(then);
    return;
  }
  if (reply.verdict == Reply::Verdict::kSuperseded) return Exit(1);
  if (reply.verdict == Reply::Verdict::kJoinAgain) {
    if (joining_) {
      when_joined_.push_back(then);
      return;
    }
    start_ = world_.random().Next();
    watch_.StartOver();
    if (watch_.to_leave()) OnOver(watch_.epoch());
    return JoinChief([this, then] {
      if (outlasts_ && std::exchange(outlasts_, false)) {
        rank_.Outlasted();
        Proceed();
      }
      if (!dead_) then();
    });
  }
  if (watch_.Learn(reply.watched)) {
    done_ = done_ || reply.watched.done;
    if (watch_.to_leave()) OnOver(watch_.epoch());
    if (outlasts_ && (done_ || watch_.over())) {
      outlasts_ = false;
      rank_.Outlasted();
      Proceed();
      if (dead_) return;
    }
  }
  then();
}

void SimProcess::Leave() {
  Call(kCallPatience,
       [caller = Roster::Caller(Identity())](SimProcess& chief, const Answer& answer) {
         chief.ServeLeave(caller, answer);
       },
       [this](const Reply*) { Exit(0); });
}

}  // namespace taas::sim
