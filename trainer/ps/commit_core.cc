#include "trainer/ps/commit_core.h"

#include <algorithm>
#include <string>
#include <utility>

#include "operator/base/check.h"

namespace taas::ps {
namespace {

using Kind = Decision::Kind;

std::string Describe(const PushId& push) {
  return "push " + std::to_string(push.sequence) + " (batch " + std::to_string(push.batch) +
         ") of rank " + std::to_string(push.pusher.rank);
}

// All batches of a job: those that are part of the model, and what the steps to come take.
int64_t BatchesOf(const Sequencer::Options& options) {
  const int64_t per_step = std::max(1, options.aggregate);
  return options.committed.size() + std::max<int64_t>(0, options.steps - options.step) * per_step;
}

}  // namespace

Sequencer::Sequencer(Options options)
    : shards_(options.shards),
      steps_(options.steps),
      aggregate_(options.aggregate),
      step_(options.step),
      turns_(options.committed, BatchesOf(options)) {
  CHECK(!options.max_staleness || aggregate_ == 1) << aggregate_ << " pushes make a bounded step";
  if (options.max_staleness) gate_.emplace(*options.max_staleness);
}

std::vector<Decision> Sequencer::OnStaged(int shard, const StagedPush& staged) {
  const PushId& push = staged.push;
  if (fenced_.count(push.pusher) != 0) return {};
  Progress& progress = progress_[push.pusher];
  auto found = progress.pending.find(push.sequence);
  if (found == progress.pending.end()) {
    // Decided before: the shard finds the decision in the stream.
    if (push.sequence <= progress.decided) return {};
    // A replica sends its next push when the one before is answered or given up.
    if (gate_) Abandon(progress, push.sequence);
    std::erase_if(progress.pending, [](const auto& entry) { return !entry.second.candidate; });
    found = progress.pending.emplace(push.sequence, Pending{staged, {}, false}).first;
  }
  Pending& pending = found->second;
  if (pending.candidate) return {};
  if (pending.staged != staged) pending = {staged, {}, false};
  pending.shards.insert(shard);
  if (static_cast<int>(pending.shards.size()) < shards_) return {};
  return OnComplete(progress, pending);
}

std::vector<Decision> Sequencer::OnComplete(Progress& progress, Pending& pending) {
  const PushId push = pending.staged.push;
  progress.decided = std::max(progress.decided, push.sequence);
  if (!aggregates()) {
    progress.pending.erase(push.sequence);
    // A cursor with gaps, as synchronous training leaves it, has more batches below the end than
    // steps are left.
    return {!finished() && turns_.Claim(push.batch) ? Commit({push}) : Drop(push)};
  }
  if (gate_) return OnCompleteBounded(progress, pending);
  if (finished() || pending.staged.base != step_ || !turns_.Deliver(push.pusher, push.batch)) {
    progress.pending.erase(push.sequence);
    return {Drop(push)};
  }
  pending.candidate = true;
  candidates_.emplace(push.batch, push);
  std::vector<Decision> decisions;
  if (static_cast<int>(candidates_.size()) == aggregate_) {
    std::vector<PushId> pushes;
    for (const auto& [batch, candidate] : candidates_) pushes.push_back(candidate);
    decisions.push_back(Commit(std::move(pushes)));
    return decisions;
  }
  if (present_.count(push.pusher) != 0) waiting_[push.pusher] = push;
  Refill(decisions);
  return decisions;
}

std::vector<Decision> Sequencer::OnCompleteBounded(Progress& progress, Pending& pending) {
  const auto [push, base] = pending.staged;
  std::vector<Decision> decisions;
  const bool in_time = base >= 0 && base <= step_ && gate_->InTime(base, step_);
  // It is to be computed anew, whoever does.
  if (!in_time && turns_.of(push.pusher) == push.batch) TakeBack(push.pusher);
  if (in_time && !finished() && turns_.Deliver(push.pusher, push.batch)) {
    pending.candidate = true;
    candidates_.emplace(push.batch, push);
    gate_->Begin({push.pusher, push.batch}, base);
    if (present_.count(push.pusher) != 0) waiting_[push.pusher] = push;
  } else {
    gate_->GiveUp({push.pusher, push.batch});
    progress.pending.erase(push.sequence);
    decisions.push_back(Drop(push));
  }
  DecideBounded(decisions);
  return decisions;
}

std::optional<PushId> Sequencer::FirstFree() const {
  std::optional<PushId> first;
  int64_t oldest = 0;
  for (const auto& [batch, push] : candidates_) {
    const StalenessGate::Gradient gradient{push.pusher, batch};
    const int64_t base = *gate_->base(gradient);
    if (first && oldest <= base) continue;
    const bool is_free =
        finished() || !gate_->InTime(base, step_) || gate_->MayApply(gradient, step_);
    if (!is_free) continue;
    first = push;
    oldest = base;
  }
  return first;
}

void Sequencer::DecideBounded(std::vector<Decision>& decisions) {
  while (const std::optional<PushId> push = FirstFree()) {
    const StalenessGate::Gradient gradient{push->pusher, push->batch};
    const bool applies = !finished() && gate_->InTime(*gate_->base(gradient), step_);
    candidates_.erase(push->batch);
    progress_[push->pusher].pending.erase(push->sequence);
    const bool is_here = waiting_.erase(push->pusher) != 0;
    if (!applies) {
      gate_->GiveUp(gradient);
      turns_.Undo(push->batch);
      decisions.push_back(Drop(*push));
      continue;
    }
    ++step_;
    turns_.Commit(push->batch);
    gate_->EndBatch(push->batch);
    decisions.push_back(Keep({Kind::kCommit, {*push}, step_}));
    // Now, since other shards answer it at once, with values of this step; but not before others
    // who wait for their turn.
    if (is_here && !finished() && refused_.empty()) Give(push->pusher);
  }
}

std::optional<int64_t> Sequencer::Give(const Pusher& pusher) {
  if (!gate_ || turns_.of(pusher)) return turns_.Give(pusher);
  const bool is_next = refused_.empty() || refused_.front() == pusher;
  const std::optional<int64_t> batch =
      is_next && gate_->MayBegin() ? turns_.Give(pusher) : std::nullopt;
  if (!batch) {
    if (std::ranges::find(refused_, pusher) == refused_.end()) refused_.push_back(pusher);
    return std::nullopt;
  }
  std::erase(refused_, pusher);
  gate_->Begin({pusher, *batch}, step_);
  return batch;
}

void Sequencer::Abandon(Progress& progress, uint64_t sequence) {
  std::erase_if(progress.pending, [&](const auto& entry) {
    const PushId& push = entry.second.staged.push;
    if (!entry.second.candidate || push.sequence >= sequence) return false;
    candidates_.erase(push.batch);
    gate_->GiveUp({push.pusher, push.batch});
    turns_.Undo(push.batch);
    return true;
  });
}

void Sequencer::TakeBack(const Pusher& pusher) {
  const std::optional<int64_t> batch = turns_.of(pusher);
  if (gate_ && batch) gate_->GiveUp({pusher, *batch});
  turns_.TakeBack(pusher);
}

void Sequencer::GoOn(std::vector<Decision>& decisions) {
  if (gate_) DecideBounded(decisions);
  else Refill(decisions);
}

std::optional<int64_t> Sequencer::OldestFor(const Pusher& pusher) const {
  const std::optional<int64_t> batch = turns_.of(pusher);
  return gate_ && batch ? gate_->base({pusher, *batch}) : std::nullopt;
}

Decision Sequencer::Commit(std::vector<PushId> pushes) {
  ++step_;
  if (aggregates()) {
    turns_.EndStep();
    candidates_.clear();
    waiting_.clear();
    std::set<Pusher> winners;
    for (const PushId& push : pushes) {
      progress_[push.pusher].pending.erase(push.sequence);
      if (present_.count(push.pusher) != 0) winners.insert(push.pusher);
    }
    // Now, not when each fetches it: the first to do so must not take the others' for its own.
    for (const Pusher& pusher : winners) {
      if (!finished()) Give(pusher);
    }
  }
  return Keep({Kind::kCommit, std::move(pushes), step_});
}

Decision Sequencer::Drop(const PushId& push) { return Keep({Kind::kDrop, {push}, step_}); }

void Sequencer::Refill(std::vector<Decision>& decisions) {
  while (!waiting_.empty() &&
         turns_.delivered() + turns_.under_way() < static_cast<size_t>(aggregate_)) {
    const auto [pusher, push] = *waiting_.begin();
    if (!Give(pusher)) return;
    waiting_.erase(pusher);
    decisions.push_back(Keep({Kind::kBank, {push}, step_}));
  }
}

std::optional<int64_t> Sequencer::Next(const Pusher& pusher) {
  if (!aggregates() || finished() || fenced_.count(pusher) != 0) return std::nullopt;
  present_.insert(pusher);
  // It has delivered: its turn comes with the next step, or when the step lacks batches.
  if (waiting_.count(pusher) != 0) return std::nullopt;
  return Give(pusher);
}

std::vector<Decision> Sequencer::OnHere(const PushId& push) {
  std::vector<Decision> decisions;
  if (!aggregates() || fenced_.count(push.pusher) != 0) return decisions;
  present_.insert(push.pusher);
  const std::map<uint64_t, Pending>& pending = progress_[push.pusher].pending;
  const auto found = pending.find(push.sequence);
  if (found == pending.end() || !found->second.candidate || turns_.of(push.pusher)) {
    return decisions;
  }
  waiting_[push.pusher] = push;
  GoOn(decisions);
  return decisions;
}

std::vector<Decision> Sequencer::OnGone(const Pusher& pusher) {
  std::vector<Decision> decisions;
  if (present_.erase(pusher) == 0) return decisions;
  waiting_.erase(pusher);
  std::erase(refused_, pusher);
  TakeBack(pusher);
  GoOn(decisions);
  return decisions;
}

std::vector<Decision> Sequencer::OnFence(const Pusher& pusher) {
  if (!fenced_.insert(pusher).second) return {};
  const PushId any{.pusher = pusher, .sequence = 0, .batch = 0};
  std::vector<Decision> decisions = {Keep({Kind::kFence, {any}, step_})};
  if (const auto found = progress_.find(pusher); found != progress_.end()) {
    for (const auto& [sequence, pending] : found->second.pending) {
      if (!pending.candidate) continue;
      candidates_.erase(pending.staged.push.batch);
      if (gate_) gate_->GiveUp({pusher, pending.staged.push.batch});
      turns_.Undo(pending.staged.push.batch);
    }
    progress_.erase(found);
  }
  present_.erase(pusher);
  waiting_.erase(pusher);
  std::erase(refused_, pusher);
  TakeBack(pusher);
  GoOn(decisions);
  return decisions;
}

Decision Sequencer::OnCut() {
  return Keep({Kind::kCut, {{.pusher = {}, .sequence = ++cuts_, .batch = 0}}, step_});
}

absl::StatusOr<std::vector<Decision>> Sequencer::DecisionsAfter(uint64_t seen) const {
  if (seen < forgotten_ || seen > forgotten_ + kept_.size()) {
    return absl::FailedPreconditionError(
        "the shard has seen " + std::to_string(seen) + " decisions, kept are those from " +
        std::to_string(forgotten_) + " to " + std::to_string(forgotten_ + kept_.size()));
  }
  return std::vector<Decision>(kept_.begin() + static_cast<int64_t>(seen - forgotten_),
                               kept_.end());
}

const Decision& Sequencer::Keep(const Decision& decision) {
  kept_.push_back(decision);
  kept_pushes_ += decision.pushes.size();
  while (kept_pushes_ > kDecisionsKept && kept_.size() > 1) {
    ++forgotten_;
    kept_pushes_ -= kept_.front().pushes.size();
    kept_.pop_front();
  }
  return kept_.back();
}

Admission PushLedger::OnPush(const StagedPush& staged) {
  const PushId& push = staged.push;
  if (fenced(push.pusher)) return Admission::kFenced;
  Entry& entry = entries_[push.pusher];
  if (push.sequence <= entry.settled.sequence) return Admission::kSettled;
  // Its sender has given up what it sent before and was not told to leave here.
  std::erase_if(entry.staged, [&](const auto& other) {
    return other.first < push.sequence && other.first > entry.banked;
  });
  entry.staged[push.sequence] = staged;
  return Admission::kStaged;
}

absl::Status PushLedger::CheckCommit(const Decision& decision) const {
  if (decision.step != step_ + 1) {
    return absl::FailedPreconditionError("step " + std::to_string(decision.step) +
                                         " follows step " + std::to_string(step_));
  }
  for (const PushId& push : decision.pushes) {
    if (holds(push)) continue;
    return absl::FailedPreconditionError("step " + std::to_string(decision.step) + " is " +
                                         Describe(push) + ", which is not staged here");
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> PushLedger::OnDecision(const Decision& decision) {
  const PushId& push = decision.push();
  ++seen_;
  switch (decision.kind) {
    case Kind::kCut:
      // One that comes again after a broken connection may have been read and released long ago.
      if (push.sequence <= cuts_) return false;
      cuts_ = push.sequence;
      return true;
    case Kind::kFence:
      fenced_.insert(push.pusher);
      entries_.erase(push.pusher);
      return false;
    case Kind::kBank:
      if (holds(push)) {
        uint64_t& banked = entries_[push.pusher].banked;
        banked = std::max(banked, push.sequence);
      }
      return false;
    case Kind::kDrop:
      if (holds(push)) Settle(push, false, decision.step);
      return false;
    case Kind::kCommit: break;
  }
  if (decision.step <= step_) return false;
  const absl::Status status = CheckCommit(decision);
  if (!status.ok()) return status;
  step_ = decision.step;
  for (const PushId& part : decision.pushes) Settle(part, true, decision.step);
  return true;
}

void PushLedger::Settle(const PushId& push, bool applied, int64_t step) {
  Entry& entry = entries_[push.pusher];
  entry.staged.erase(push.sequence);
  if (push.sequence > entry.settled.sequence) entry.settled = {push.sequence, applied, step};
}

PushLedger::Settled PushLedger::settled(const Pusher& pusher) const {
  const auto found = entries_.find(pusher);
  return found == entries_.end() ? Settled{} : found->second.settled;
}

bool PushLedger::banked(const PushId& push) const {
  const auto found = entries_.find(push.pusher);
  return found != entries_.end() && push.sequence <= found->second.banked;
}

bool PushLedger::holds(const PushId& push) const {
  const auto found = entries_.find(push.pusher);
  if (found == entries_.end()) return false;
  const auto staged = found->second.staged.find(push.sequence);
  return staged != found->second.staged.end() && staged->second.push == push;
}

std::vector<StagedPush> PushLedger::staged() const {
  std::vector<StagedPush> pushes;
  for (const auto& [pusher, entry] : entries_) {
    for (const auto& [sequence, staged] : entry.staged) pushes.push_back(staged);
  }
  return pushes;
}

}  // namespace taas::ps
