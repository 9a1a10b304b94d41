#include "trainer/ring/ring_desk.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "operator/base/log.h"
#include "trainer/chief/desk_replies.h"
#include "trainer/cluster/membership.h"
#include "trainer/ring/ring_wire.h"

namespace taas {
namespace {

// Five missed heartbeats and a member is lost, as at the front desk of parameter servers; they are
// held no longer than there.
constexpr int kBeatsMissed = 5;
constexpr std::chrono::milliseconds kBeatHoldMax{2'000};
// What time alone decides is seen so soon: silence, and answers that do not come.
constexpr std::chrono::milliseconds kLook{20};
constexpr std::chrono::milliseconds kLookForAnswers{2};
// What is waited for is shown so often.
constexpr std::chrono::milliseconds kShow{100};

// What a call says of a rank's epoch; nothing of one that cannot be.
std::optional<DeskCore::Waiting> WaitingOf(const wire::BeatRequest& request) {
  if (!request.ring().waiting()) return std::nullopt;
  const absl::StatusOr<Standing> standing = FromWire(request.ring());
  if (standing.ok()) {
    DeskCore::Waiting waiting{.standing = *standing, .epoch = request.ring().epoch()};
    if (request.ring().has_lost()) waiting.lost = request.ring().lost();
    return waiting;
  }
  Log(LogLevel::kWarning, "a rank is not believed",
      {{"replica", Roster::Caller(request.identity()).replica.name()},
       {"why", std::string(standing.status().message())}});
  return std::nullopt;
}

}  // namespace

RingDesk::RingDesk(const Clock& clock, Options options)
    : clock_(clock),
      options_(std::move(options)),
      beat_hold_(std::min(kBeatHoldMax, std::chrono::duration_cast<std::chrono::milliseconds>(
                                            options_.roster.silence / kBeatsMissed))),
      core_({.roster = options_.roster,
             .address = options_.address,
             .min = options_.min,
             .max = options_.max,
             .max_steps = options_.max_steps,
             .gather_max = options_.gather_max}) {
  watch_ = std::thread([this] { Watch(); });
}

RingDesk::~RingDesk() {
  Close();
  watch_.join();
}

void RingDesk::Close() {
  std::lock_guard lock(mutex_);
  closing_ = true;
  changed_.notify_all();
}

void RingDesk::CarryOut() {
  if (const auto over = core_.TakeOver()) options_.on_over(*over);
  if (core_.view() == told_view_) return;
  told_view_ = core_.view();
  changed_.notify_all();
}

void RingDesk::Watch() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const bool ending = core_.ending();
    changed_.wait_for(lock, ending ? kLookForAnswers : kLook,
                      [&] { return closing_ || core_.ending() != ending; });
    if (closing_) return;
    // It would else wait for others as long as they do.
    if (options_.stopped() && core_.in_force() != 0 && !core_.done()) {
      options_.on_over(core_.in_force());
    }
    core_.Look(clock_.Now());
    CarryOut();
  }
}

wire::JoinReply RingDesk::Join(const wire::JoinRequest& request) {
  std::lock_guard lock(mutex_);
  const Admittance verdict = core_.Join(request, clock_.Now());
  wire::JoinReply reply = ReplyOf(verdict);
  const bool accepted = verdict.verdict == Admittance::Verdict::kAccepted;
  Log(accepted ? LogLevel::kInfo : LogLevel::kWarning,
      accepted ? "replica joined" : "replica not admitted",
      {{"replica", Roster::Caller(request.identity()).replica.name()},
       {"why", verdict.sentence}});
  CarryOut();
  return reply;
}

void RingDesk::Leave(const wire::LeaveRequest& request) {
  std::lock_guard lock(mutex_);
  core_.Leave(Roster::Caller(request.identity()), clock_.Now());
  CarryOut();
  changed_.notify_all();
}

wire::BeatReply RingDesk::Beat(const wire::BeatRequest& request) {
  const Roster::Caller caller(request.identity());
  std::unique_lock lock(mutex_);
  Membership::Standing standing = core_.Hear(caller, clock_.Now());
  if (standing == Membership::Standing::kMember) {
    if (request.has_report()) core_.roster().Report(caller, request.report());
    core_.Tell(caller, WaitingOf(request), clock_.Now());
    CarryOut();
    changed_.wait_for(lock, beat_hold_, [&] {
      return closing_ || core_.done() || core_.view() != request.seen_view() ||
             !core_.Awaits(caller);
    });
    standing = core_.Hear(caller, clock_.Now());
  }
  if (standing != Membership::Standing::kMember) return ReplyToNoMember(standing, caller.replica);
  wire::BeatReply reply;
  reply.set_view(core_.view());
  reply.set_done(core_.done());
  if (core_.done()) reply.set_step(core_.end_step());
  reply.set_waiting_for(core_.waiting_for());
  if (const Epoch* const epoch = core_.EpochOf(caller)) *reply.mutable_ring() = ToWire(*epoch);
  return reply;
}

absl::StatusOr<std::optional<Epoch>> RingDesk::Next(const Standing& standing,
                                                    std::optional<int> lost) {
  std::unique_lock lock(mutex_);
  core_.OwnWaits(standing, lost, clock_.Now());
  CarryOut();
  const auto over = [this] {
    return closing_ || core_.done() || core_.own_epoch() != nullptr || options_.stopped();
  };
  while (!changed_.wait_for(lock, kShow, over)) {
    const std::string why = core_.waiting_for();
    lock.unlock();
    options_.on_wait(why);
    lock.lock();
  }
  if (options_.stopped()) return absl::CancelledError("stopped");
  if (closing_) return absl::CancelledError("the chief ends");
  if (core_.done()) return std::nullopt;
  return *core_.own_epoch();
}

void RingDesk::Outlast() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closing_ || core_.done() || core_.in_force() == 0; });
}

void RingDesk::Finish(int64_t step) {
  std::lock_guard lock(mutex_);
  core_.Finish(step);
  CarryOut();
}

bool RingDesk::AwaitFarewell(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] { return core_.AllLeft(); });
}

std::vector<PeerStatus> RingDesk::Peers() {
  std::lock_guard lock(mutex_);
  return core_.roster().Peers(clock_);
}

std::string RingDesk::waiting_for() {
  std::lock_guard lock(mutex_);
  return core_.waiting_for();
}

}  // namespace taas
