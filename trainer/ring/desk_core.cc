#include "trainer/ring/desk_core.h"

#include <algorithm>

#include "operator/base/log.h"
#include "trainer/retry/try_on.h"

namespace taas {
namespace {

// A chief's epochs are later than those of the chiefs before it, also of such that nobody tells of
// who comes to it: each pod has this many numbers of its own.
constexpr uint32_t kEpochsOfAPod = 1 << 12;
// Beyond, pods begin anew: what is left of one is not there any more.
constexpr int64_t kPodsInARow = 1 << 20;
// The ranks of a chief that this one follows call again within the time that they give a call.
constexpr Clock::Duration kGatherAgainMax = std::chrono::seconds(5);

uint32_t EpochsBefore(const Incarnation& chief) {
  return static_cast<uint32_t>(chief.pod % kPodsInARow) * kEpochsOfAPod;
}

}  // namespace

DeskCore::DeskCore(Options options)
    : options_(std::move(options)), roster_(options_.roster) {}

Admittance DeskCore::Join(const wire::JoinRequest& request, Clock::Time now) {
  Admittance verdict = roster_.Join(request, now);
  Decide(now);
  return verdict;
}

void DeskCore::Leave(const Roster::Caller& caller, Clock::Time now) {
  roster_.Leave(caller, done_);
  Decide(now);
}

Membership::Standing DeskCore::Hear(const Roster::Caller& caller, Clock::Time now) {
  return roster_.Hear(caller, now);
}

void DeskCore::Tell(const Roster::Caller& caller, const std::optional<Waiting>& waiting,
                    Clock::Time now) {
  if (options_.roster.cluster.rank(caller.replica) < 0) return;
  Rank& rank = ranks_[caller.replica];
  if (rank.incarnation != caller.incarnation) rank = {.incarnation = caller.incarnation};
  rank.heard = now;
  // Only who waits says where it stands: what another thread of the process says meanwhile may come
  // later and be older.
  if (waiting) {
    seen_epoch_ = std::max(seen_epoch_, waiting->epoch);
    // It may not have heard yet of the epoch that it is in.
    const Epoch* const epoch = EpochOf(caller);
    if (epoch == nullptr || waiting->epoch >= epoch->number) {
      rank.standing = waiting->standing;
      rank.waiting = true;
    }
    if (waiting->epoch == epoch_) Believe(waiting->lost);
  }
  Decide(now);
}

void DeskCore::OwnWaits(const Standing& standing, std::optional<int> lost, Clock::Time now) {
  own_ = standing;
  own_waiting_ = true;
  Believe(lost);
  Decide(now);
}

void DeskCore::Believe(std::optional<int> lost) {
  if (!lost || *lost < 1 || static_cast<size_t>(*lost) > in_order_.size()) return;
  const auto rank = ranks_.find(in_order_[static_cast<size_t>(*lost) - 1]);
  if (rank != ranks_.end() && IsRank(rank->first, rank->second)) rank->second.lost = true;
}

void DeskCore::Look(Clock::Time now) { Decide(now); }

void DeskCore::Decide(Clock::Time now) {
  if (done_) return;
  for (const ReplicaId& silent : roster_.Sweep(now)) {
    Log(LogLevel::kWarning, "rank silent for more than " + SecondsOf(options_.roster.silence),
        {{"replica", silent.name()}});
  }
  std::erase_if(ranks_, [this](const auto& entry) {
    const Membership::Member* const member = roster_.Find(entry.first);
    return member == nullptr || member->lost || member->left ||
           member->incarnation != entry.second.incarnation;
  });
  switch (NextRingAction(View(now))) {
    case RingAction::kGoOn: break;
    case RingAction::kWait: break;
    case RingAction::kEnd: End(now); break;
    case RingAction::kForm: Form(); break;
  }
}

bool DeskCore::IsRank(const ReplicaId& replica, const Rank& rank) const {
  const auto member = members_.find(replica);
  return member != members_.end() && member->second == rank.incarnation;
}

RingView DeskCore::View(Clock::Time now) {
  RingView view{.begun = begun_,
                .over = over_,
                .gone = members_.size(),
                .here = {{.in_epoch = begun_, .waiting = own_waiting_}},
                .expected = options_.roster.cluster.training_replicas().size(),
                .min = options_.min,
                .max = options_.max};
  // Others may have been told of the end, and do not come again.
  if (AllTrained()) view.expected = view.min = 1;
  size_t waiting = own_waiting_ ? 1 : 0;
  std::string busy;
  for (const auto& [replica, rank] : ranks_) {
    const bool in_epoch = IsRank(replica, rank);
    if (in_epoch) --view.gone;
    const Clock::Duration answer_max = rank.lost ? kLostAnswerMax : kAnswerMax;
    view.here.push_back({.in_epoch = in_epoch,
                         .waiting = rank.waiting,
                         .answers = rank.heard >= over_at_ || now - over_at_ < answer_max});
    waiting += rank.waiting ? 1 : 0;
    if (in_epoch && !rank.waiting) busy += (busy.empty() ? "" : ", ") + replica.name();
  }
  if (waiting < view.min) {
    enough_since_.reset();
  } else if (!enough_since_) {
    enough_since_ = now;
  }
  ending_ = over_ && !busy.empty();
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

std::string DeskCore::DescribeMissing(size_t waiting, Clock::Time now) {
  std::vector<ReplicaId> missing = roster_.Missing("worker");
  // The list of workers is as old as this process: of an elastic job some of it may have been
  // scaled away since, but never the first.
  if (begun_ || waiting < options_.min) {
    const int needed =
        static_cast<int>(options_.min) - options_.roster.cluster.count("chief");
    std::erase_if(missing, [needed](const ReplicaId& worker) { return worker.index >= needed; });
  }
  return roster_.DescribeMissing(missing, now);
}

void DeskCore::End(Clock::Time now) {
  over_ = true;
  over_at_ = now;
  epochs_.clear();
  ++view_;
  if (!own_waiting_) own_over_ = epoch_;
  Log(LogLevel::kInfo, "epoch is over", {{"epoch", std::to_string(epoch_)}});
}

void DeskCore::Form() {
  std::vector<ReplicaId> who;
  std::vector<Seat> seats = {{options_.address, own_}};
  for (const auto& [replica, rank] : ranks_) {
    if (!rank.waiting || seats.size() == options_.max) continue;
    who.push_back(replica);
    seats.push_back({roster_.Find(replica)->bulk_address, rank.standing});
  }
  epoch_ = std::max({epoch_, seen_epoch_, EpochsBefore(options_.roster.self)}) + 1;
  std::vector<Epoch> formed = FormEpoch(epoch_, seats);
  members_.clear();
  epochs_.clear();
  for (size_t i = 0; i < who.size(); ++i) {
    Rank& rank = ranks_[who[i]];
    rank.waiting = rank.lost = false;
    members_[who[i]] = rank.incarnation;
    epochs_[who[i]] = std::move(formed[i + 1]);
  }
  in_order_ = std::move(who);
  own_epoch_ = std::move(formed[0]);
  own_waiting_ = false;
  begun_ = true;
  over_ = ending_ = false;
  roster_.StartOver();
  waiting_for_.clear();
  ++view_;
  Log(LogLevel::kInfo, "epoch begins",
      {{"epoch", std::to_string(epoch_)},
       {"ranks", std::to_string(seats.size())},
       {"step", std::to_string(own_epoch_.start.step)},
       {"batches", std::to_string(own_epoch_.start.committed.size())}});
}

const Epoch* DeskCore::EpochOf(const Roster::Caller& caller) const {
  const auto member = members_.find(caller.replica);
  const auto epoch = epochs_.find(caller.replica);
  if (over_ || epoch == epochs_.end() || member->second != caller.incarnation) return nullptr;
  return &epoch->second;
}

void DeskCore::Finish(int64_t step) {
  done_ = true;
  end_step_ = step;
  ++view_;
}

bool DeskCore::AllTrained() const {
  return std::ranges::any_of(ranks_, [this](const auto& entry) {
    return entry.second.waiting && entry.second.standing.step >= options_.max_steps;
  });
}

bool DeskCore::AllLeft() const {
  if (!begun_) return roster_.AllLeft();
  return std::ranges::all_of(members_, [this](const auto& entry) {
    const Membership::Member* const member = roster_.Find(entry.first);
    return member == nullptr || member->left || member->incarnation != entry.second;
  });
}

bool DeskCore::Awaits(const Roster::Caller& caller) const {
  const Membership::Member* const member = roster_.Find(caller);
  return member != nullptr && !member->left;
}

}  // namespace taas
