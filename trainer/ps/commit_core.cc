#include "trainer/ps/commit_core.h"

#include <string>
#include <utility>

namespace taas::ps {
namespace {

std::string Describe(const PushId& push) {
  return "push " + std::to_string(push.sequence) + " (batch " + std::to_string(push.batch) +
         ") of rank " + std::to_string(push.pusher.rank);
}

}  // namespace

Sequencer::Sequencer(int shards, CommittedSet committed, int64_t batches)
    : shards_(shards),
      batches_(batches),
      committed_(std::move(committed)),
      kept_from_(committed_.size()) {}

std::vector<Decision> Sequencer::OnStaged(int shard, const PushId& push) {
  if (fenced_.count(push.pusher) != 0) return {};
  Progress& progress = progress_[push.pusher];
  // Decided before: the shard finds the decision in the stream.
  if (push.sequence <= progress.decided) return {};
  if (progress.push != push) {
    progress.push = push;
    progress.staged.clear();
  }
  progress.staged.insert(shard);
  if (static_cast<int>(progress.staged.size()) < shards_) return {};
  progress.decided = push.sequence;
  progress.staged.clear();
  const bool wanted = push.batch >= 0 && push.batch < batches_ && committed_.Add(push.batch);
  const Decision decision{wanted ? Decision::Kind::kCommit : Decision::Kind::kDrop, push, step()};
  Keep(decision);
  return {decision};
}

std::vector<Decision> Sequencer::OnFence(const Pusher& pusher) {
  if (!fenced_.insert(pusher).second) return {};
  progress_.erase(pusher);
  const Decision decision{Decision::Kind::kFence, {.pusher = pusher}, step()};
  Keep(decision);
  return {decision};
}

Decision Sequencer::OnCut() {
  const Decision decision{Decision::Kind::kCut, {.sequence = ++cuts_}, step()};
  Keep(decision);
  return decision;
}

absl::StatusOr<std::vector<Decision>> Sequencer::DecisionsAfter(int64_t step) const {
  if (step < kept_from_) {
    return absl::FailedPreconditionError("the shard is at step " + std::to_string(step) +
                                         ", decisions are kept from step " +
                                         std::to_string(kept_from_));
  }
  std::vector<Decision> decisions;
  for (const Decision& decision : kept_) {
    const bool missed = decision.kind == Decision::Kind::kCommit ? decision.step > step
                                                                 : decision.step >= step;
    // Drops, fences and cuts that were carried out already change nothing.
    if (missed) decisions.push_back(decision);
  }
  return decisions;
}

void Sequencer::Keep(const Decision& decision) {
  kept_.push_back(decision);
  if (kept_.size() <= kDecisionsKept) return;
  kept_from_ = kept_.front().step;
  kept_.pop_front();
}

Admission PushLedger::OnPush(const PushId& push) {
  if (fenced(push.pusher)) return Admission::kFenced;
  Entry& entry = entries_[push.pusher];
  if (push.sequence <= entry.settled.sequence) return Admission::kSettled;
  entry.staged = push;
  return Admission::kStaged;
}

absl::StatusOr<bool> PushLedger::OnDecision(const Decision& decision) {
  if (decision.kind == Decision::Kind::kCut) {
    // One that comes again after a broken connection may have been read and released long ago.
    if (decision.push.sequence <= cuts_) return false;
    cuts_ = decision.push.sequence;
    return true;
  }
  if (decision.kind == Decision::Kind::kFence) {
    fenced_.insert(decision.push.pusher);
    entries_.erase(decision.push.pusher);
    return false;
  }
  if (decision.kind == Decision::Kind::kCommit) {
    if (decision.step <= step_) return false;
    if (decision.step != step_ + 1) {
      return absl::FailedPreconditionError("step " + std::to_string(decision.step) +
                                           " follows step " + std::to_string(step_));
    }
  }
  const auto found = entries_.find(decision.push.pusher);
  const bool held = found != entries_.end() && found->second.staged == decision.push;
  if (decision.kind == Decision::Kind::kDrop) {
    if (!held) return false;
    found->second.settled = {decision.push.sequence, false, decision.step};
    found->second.staged.reset();
    return false;
  }
  if (!held) {
    return absl::FailedPreconditionError("step " + std::to_string(decision.step) + " is " +
                                         Describe(decision.push) + ", which is not staged here");
  }
  step_ = decision.step;
  found->second.settled = {decision.push.sequence, true, decision.step};
  found->second.staged.reset();
  return true;
}

PushLedger::Settled PushLedger::settled(const Pusher& pusher) const {
  const auto found = entries_.find(pusher);
  return found == entries_.end() ? Settled{} : found->second.settled;
}

std::vector<PushId> PushLedger::staged() const {
  std::vector<PushId> pushes;
  for (const auto& [pusher, entry] : entries_) {
    if (entry.staged) pushes.push_back(*entry.staged);
  }
  return pushes;
}

}  // namespace taas::ps
