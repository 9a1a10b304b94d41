#include "trainer/ring/ring_desk.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "operator/base/log.h"
#include "trainer/retry/try_on.h"
#include "trainer/ring/ring_wire.h"

namespace taas {
namespace {

// Five missed heartbeats and a member is lost, as at the front desk of parameter servers; they are
// held no longer than there.
constexpr int kBeatsMissed = 5;
constexpr std::chrono::milliseconds kBeatHoldMax{2'000};
// What time alone decides is seen so soon: silence, and answers that do not come.
constexpr std::chrono::milliseconds kLook{20};
// The ranks of a chief that this one follows call again within the time that they give a call.
constexpr Clock::Duration kGatherAgainMax = std::chrono::seconds(5);
// What is waited for is shown so often.
constexpr std::chrono::milliseconds kShow{100};

wire::JoinReply::Verdict VerdictOf(Admittance::Verdict verdict) {
  switch (verdict) {
    case Admittance::Verdict::kAccepted: return wire::JoinReply::ACCEPTED;
    case Admittance::Verdict::kLater: return wire::JoinReply::LATER;
    case Admittance::Verdict::kRefused: break;
  }
  return wire::JoinReply::REFUSED;
}

}  // namespace

RingDesk::RingDesk(const Clock& clock, Options options)
    : clock_(clock),
      options_(std::move(options)),
      beat_hold_(std::min(kBeatHoldMax, std::chrono::duration_cast<std::chrono::milliseconds>(
                                            options_.roster.silence / kBeatsMissed))),
      roster_(options_.roster) {
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

void RingDesk::Watch() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kLook, [this] { return closing_; })) {
    // It would else wait for others as long as they do.
    if (options_.stopped() && begun_ && !over_ && !done_) options_.on_over(epoch_);
    Decide();
  }
}

wire::JoinReply RingDesk::Join(const wire::JoinRequest& request) {
  std::lock_guard lock(mutex_);
  const Admittance verdict = roster_.Join(request, clock_.Now());
  wire::JoinReply reply;
  reply.set_sentence(verdict.sentence);
  reply.set_verdict(VerdictOf(verdict.verdict));
  const bool accepted = verdict.verdict == Admittance::Verdict::kAccepted;
  Log(accepted ? LogLevel::kInfo : LogLevel::kWarning,
      accepted ? "replica joined" : "replica not admitted",
      {{"replica", Roster::Caller(request.identity()).replica.name()},
       {"why", verdict.sentence}});
  Decide();
  return reply;
}

void RingDesk::Leave(const wire::LeaveRequest& request) {
  std::lock_guard lock(mutex_);
  roster_.Leave(Roster::Caller(request.identity()), done_);
  Decide();
  changed_.notify_all();
}

wire::BeatReply RingDesk::Beat(const wire::BeatRequest& request) {
  const Roster::Caller caller(request.identity());
  std::unique_lock lock(mutex_);
  Membership::Standing standing = roster_.Hear(caller, clock_.Now());
  if (standing == Membership::Standing::kMember) {
    if (request.has_report()) roster_.Report(caller, request.report());
    Hear(caller, request);
    Decide();
    changed_.wait_for(lock, beat_hold_, [&] {
      const Membership::Member* const member = roster_.Find(caller);
      return closing_ || done_ || view_ != request.seen_view() || member == nullptr ||
             member->left;
    });
    standing = roster_.Hear(caller, clock_.Now());
  }
  wire::BeatReply reply;
  if (standing != Membership::Standing::kMember) {
    const bool replaced = standing == Membership::Standing::kReplaced;
    reply.set_verdict(replaced ? wire::BeatReply::SUPERSEDED : wire::BeatReply::JOIN_AGAIN);
    reply.set_sentence(replaced
                           ? "a later process has taken the place of " + caller.replica.name()
                           : "the chief does not know this " + caller.replica.name());
    return reply;
  }
  reply.set_view(view_);
  reply.set_done(done_);
  if (done_) reply.set_step(end_step_);
  reply.set_waiting_for(waiting_for_);
  if (const Epoch* const epoch = EpochOf(caller)) *reply.mutable_ring() = ToWire(*epoch);
  return reply;
}

void RingDesk::Hear(const Roster::Caller& caller, const wire::BeatRequest& request) {
  if (options_.roster.cluster.rank(caller.replica) < 0) return;
  Rank& rank = ranks_[caller.replica];
  if (rank.incarnation != caller.incarnation) rank = {.incarnation = caller.incarnation};
  rank.heard = clock_.Now();
  // Only who waits says where it stands: what another thread of the process says meanwhile may come
  // later and be older.
  if (!request.ring().waiting()) return;
  seen_epoch_ = std::max(seen_epoch_, request.ring().epoch());
  // It has not heard yet of the epoch that it is in.
  const Epoch* const epoch = EpochOf(caller);
  if (epoch != nullptr && request.ring().epoch() < epoch->number) return;
  const absl::StatusOr<Standing> standing = FromWire(request.ring());
  if (!standing.ok()) {
    Log(LogLevel::kWarning, "a rank is not believed",
        {{"replica", caller.replica.name()}, {"why", std::string(standing.status().message())}});
    return;
  }
  rank.standing = *standing;
  rank.waiting = true;
}

absl::StatusOr<std::optional<Epoch>> RingDesk::Next(const Standing& standing) {
  std::unique_lock lock(mutex_);
  own_ = standing;
  own_waiting_ = true;
  Decide();
  const auto over = [this] { return closing_ || done_ || !own_waiting_ || options_.stopped(); };
  while (!changed_.wait_for(lock, kShow, over)) {
    const std::string why = waiting_for_;
    lock.unlock();
    options_.on_wait(why);
    lock.lock();
  }
  if (options_.stopped()) return absl::CancelledError("stopped");
  if (closing_) return absl::CancelledError("the chief ends");
  if (done_) return std::nullopt;
  return own_epoch_;
}

void RingDesk::Outlast() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closing_ || done_ || over_; });
}

void RingDesk::Decide() {
  if (done_ || closing_) return;
  const Clock::Time now = clock_.Now();
  for (const ReplicaId& silent : roster_.Sweep(now)) {
    Log(LogLevel::kWarning, "rank silent for more than " + SecondsOf(options_.roster.silence),
        {{"replica", silent.name()}});
  }
  std::erase_if(ranks_, [this](const auto& entry) {
    const Membership::Member* const member = roster_.Find(entry.first);
    return member == nullptr || member->lost || member->left ||
           member->incarnation != entry.second.incarnation;
  });
  switch (NextRingAction(Look(now))) {
    case RingAction::kGoOn: break;
    case RingAction::kWait: break;
    case RingAction::kEnd: End(now); break;
    case RingAction::kForm: Form(); break;
  }
}

bool RingDesk::IsRank(const ReplicaId& replica, const Rank& rank) const {
  const auto member = members_.find(replica);
  return member != members_.end() && member->second == rank.incarnation;
}

RingView RingDesk::Look(Clock::Time now) {
  RingView view{.begun = begun_,
                .over = over_,
                .gone = members_.size(),
                .here = {{.in_epoch = begun_, .waiting = own_waiting_}},
                .expected = options_.roster.cluster.training_replicas().size(),
                .min = options_.min,
                .max = options_.max};
  size_t waiting = own_waiting_ ? 1 : 0;
  std::string busy;
  for (const auto& [replica, rank] : ranks_) {
    const bool in_epoch = IsRank(replica, rank);
    if (in_epoch) --view.gone;
    view.here.push_back({.in_epoch = in_epoch,
                         .waiting = rank.waiting,
                         .answers = rank.heard >= over_at_ || now - over_at_ < kAnswerMax});
    waiting += rank.waiting ? 1 : 0;
    if (in_epoch && !rank.waiting) busy += (busy.empty() ? "" : ", ") + replica.name();
  }
  if (waiting < options_.min) {
    enough_since_.reset();
  } else if (!enough_since_) {
    enough_since_ = now;
  }
  const Clock::Duration patience =
      seen_epoch_ == 0 ? options_.gather_max : std::min(options_.gather_max, kGatherAgainMax);
  view.gathered = enough_since_ && now - *enough_since_ >= patience;
  if (begun_ && !over_) {
    waiting_for_.clear();
  } else if (!busy.empty()) {
    waiting_for_ = "waiting for " + busy + " to end the step";
  } else {
    waiting_for_ = DescribeMissing(waiting, now);
    if (waiting_for_.empty()) {
      waiting_for_ = "waiting for " + std::to_string(options_.min) + " ranks, of which " +
                     std::to_string(waiting) + " are ready";
    }
  }
  return view;
}

std::string RingDesk::DescribeMissing(size_t waiting, Clock::Time now) {
  std::vector<ReplicaId> missing = roster_.Missing("worker");
  // The list of workers is as old as this process: of an elastic job some of it may have been scaled
  // away since, but never the first.
  if (begun_ || waiting < options_.min) {
    const int needed =
        static_cast<int>(options_.min) - options_.roster.cluster.count("chief");
    std::erase_if(missing, [needed](const ReplicaId& worker) { return worker.index >= needed; });
  }
  return roster_.DescribeMissing(missing, now);
}

void RingDesk::End(Clock::Time now) {
  over_ = true;
  over_at_ = now;
  epochs_.clear();
  Log(LogLevel::kInfo, "epoch is over", {{"epoch", std::to_string(epoch_)}});
  Announce();
  if (!own_waiting_) options_.on_over(epoch_);
}

void RingDesk::Form() {
  std::vector<ReplicaId> who;
  std::vector<Seat> seats = {{options_.address, own_}};
  for (const auto& [replica, rank] : ranks_) {
    if (!rank.waiting || seats.size() == options_.max) continue;
    who.push_back(replica);
    seats.push_back({roster_.Find(replica)->bulk_address, rank.standing});
  }
  epoch_ = std::max(epoch_, seen_epoch_) + 1;
  std::vector<Epoch> formed = FormEpoch(epoch_, seats);
  members_.clear();
  epochs_.clear();
  for (size_t i = 0; i < who.size(); ++i) {
    Rank& rank = ranks_[who[i]];
    rank.waiting = false;
    members_[who[i]] = rank.incarnation;
    epochs_[who[i]] = std::move(formed[i + 1]);
  }
  own_epoch_ = std::move(formed[0]);
  own_waiting_ = false;
  begun_ = true;
  over_ = false;
  roster_.StartOver();
  waiting_for_.clear();
  Log(LogLevel::kInfo, "epoch begins",
      {{"epoch", std::to_string(epoch_)},
       {"ranks", std::to_string(seats.size())},
       {"step", std::to_string(own_epoch_.start.step)},
       {"batches", std::to_string(own_epoch_.start.committed.size())}});
  Announce();
}

const Epoch* RingDesk::EpochOf(const Roster::Caller& caller) const {
  const auto member = members_.find(caller.replica);
  const auto epoch = epochs_.find(caller.replica);
  if (over_ || epoch == epochs_.end() || member->second != caller.incarnation) return nullptr;
  return &epoch->second;
}

void RingDesk::Announce() {
  ++view_;
  changed_.notify_all();
}

void RingDesk::Finish(int64_t step) {
  std::lock_guard lock(mutex_);
  done_ = true;
  end_step_ = step;
  Announce();
}

bool RingDesk::AwaitFarewell(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] {
    return std::ranges::all_of(members_, [this](const auto& entry) {
      const Membership::Member* const member = roster_.Find(entry.first);
      return member == nullptr || member->left || member->incarnation != entry.second;
    });
  });
}

std::vector<PeerStatus> RingDesk::Peers() {
  std::lock_guard lock(mutex_);
  return roster_.Peers(clock_);
}

std::string RingDesk::waiting_for() {
  std::lock_guard lock(mutex_);
  return waiting_for_;
}

}  // namespace taas
