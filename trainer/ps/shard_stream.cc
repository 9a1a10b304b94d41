// The stream of decisions: shard 0 makes it, the others follow it.

#include <chrono>
#include <thread>
#include <vector>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/ps/shard.h"
#include "trainer/ps/shard_model.h"
#include "trainer/ps/wire.h"

namespace taas::ps {

using comm::Channel;
using comm::FrameHead;
using comm::FrameType;
using comm::Refusal;

namespace {

// Between two attempts to reach shard 0: it may be configured a moment later than this shard.
constexpr std::chrono::milliseconds kFollowRetry{20};

}  // namespace

absl::Status Shard::ServePeer(Channel& channel, const FrameHead& head) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, ModelFor(channel, head));
  if (model == nullptr) return absl::OkStatus();
  const int shard = static_cast<int>(head.rank);
  if (!model->sequencer || shard <= 0 || shard >= static_cast<int>(model->shards.size())) {
    return Refuse(channel, Refusal::kInvalid, "PEER_HELLO is from shard 1 and up to shard 0");
  }
  {
    std::lock_guard lock(mutex_);
    const auto missed = model->sequencer->DecisionsAfter(head.sequence);
    if (!missed.ok()) {
      GiveUp(*model, missed.status());
      return missed.status();
    }
    Channel*& place = model->peers[shard];
    if (place != nullptr) place->Shutdown();
    place = &channel;
    // Together: each call takes room of its own in the peer's buffer.
    std::vector<FrameHead> heads;
    for (const Decision& decision : *missed) {
      const std::vector<FrameHead> more = HeadsOf(decision, model->generation);
      heads.insert(heads.end(), more.begin(), more.end());
    }
    if (!heads.empty() && !channel.SendAtOnce(heads).ok()) channel.Shutdown();
  }
  absl::Status status;
  while (status.ok()) {
    const auto staged = channel.ReceiveHead();
    status = staged.status();
    if (!status.ok()) break;
    std::lock_guard lock(mutex_);
    if (model->retired) break;
    if (staged->type == FrameType::kStaged) OnStaged(*model, shard, StagedOf(*staged));
  }
  std::lock_guard lock(mutex_);
  const auto found = model->peers.find(shard);
  if (found != model->peers.end() && found->second == &channel) model->peers.erase(found);
  return absl::UnavailableError("shard " + std::to_string(shard) + " has gone");
}

void Shard::OnStaged(Model& model, int shard, const StagedPush& push) {
  if (model.sequencer) {
    Broadcast(model, model.sequencer->OnStaged(shard, push));
    return;
  }
  if (model.shard_zero == nullptr) return;  // Told when the connection is there.
  const FrameHead staged = HeadOf(FrameType::kStaged, push, model.generation);
  if (!model.shard_zero->SendAtOnce(staged).ok()) model.shard_zero->Shutdown();
}

void Shard::Broadcast(Model& model, const std::vector<Decision>& decisions) {
  for (const Decision& decision : decisions) {
    // A peer that does not take these few bytes at once reconnects and gets them again.
    if (!model.peers.empty()) {
      const std::vector<FrameHead> heads = HeadsOf(decision, model.generation);
      for (auto& [shard, channel] : model.peers) {
        if (!channel->SendAtOnce(heads).ok()) channel->Shutdown();
      }
    }
    CarryOut(model, decision);
  }
}

void Shard::CarryOut(Model& model, const Decision& decision) {
  const auto apply = model.ledger.OnDecision(decision);
  if (!apply.ok()) {
    GiveUp(model, apply.status());
    return;
  }
  if (*apply && decision.kind == Decision::Kind::kCommit) {
    model.Apply(decision);
    if (options_.record != nullptr) options_.record->OnCommit(decision);
  } else if (*apply && decision.kind == Decision::Kind::kCut) {
    model.values.Cut();
    changed_.notify_all();
  } else if (decision.kind == Decision::Kind::kFence || decision.kind == Decision::Kind::kDrop) {
    model.DropUnstaged();
  }
  if (model.gives_batches()) {
    // Turns change with every step.
    WakePushers();
  } else if (decision.kind != Decision::Kind::kCut) {
    for (const PushId& push : decision.pushes) Wake(push.pusher);
  }
  if (!awaited_.empty() && decision.step >= *awaited_.begin()) reached_.notify_all();
}

void Shard::GiveUp(Model& model, const absl::Status& why) {
  // The chief finds this out by its next request and configures a new generation.
  Log(LogLevel::kError, "shard cannot go on in this generation",
      {{"generation", std::to_string(model.generation)}, {"why", why.ToString()}});
  model.retired = true;
  if (model.shard_zero != nullptr) model.shard_zero->Shutdown();
  WakeAll();
}

void Shard::FollowShardZero(std::shared_ptr<Model> model) {
  for (;;) {
    const absl::Status status = FollowOnce(*model);
    Lock lock(mutex_);
    if (closing_ || model->retired) return;
    Log(LogLevel::kDebug, "connection to shard 0 ended", {{"why", status.ToString()}});
    changed_.wait_for(lock, kFollowRetry, [&] { return closing_ || model->retired; });
    if (closing_ || model->retired) return;
  }
}

absl::Status Shard::FollowOnce(Model& model) {
  ASSIGN_OR_RETURN(const auto channel, Channel::Connect(model.shards[0], {}));
  {
    std::lock_guard lock(mutex_);
    if (closing_ || model.retired) return absl::CancelledError("closing");
    RETURN_IF_ERROR(channel->Send({.type = FrameType::kHello}, options_.job));
    RETURN_IF_ERROR(channel->Send({.type = FrameType::kPeerHello,
                                   .generation = model.generation,
                                   .rank = static_cast<uint32_t>(model.shard),
                                   .sequence = model.ledger.seen()}));
    model.shard_zero = channel.get();
    for (const StagedPush& push : model.ledger.staged()) {
      OnStaged(model, model.shard, push);
    }
  }
  absl::Status status;
  DecisionReader reader;
  while (status.ok()) {
    const auto head = channel->ReceiveHead();
    status = head.status();
    if (!status.ok()) break;
    const auto decision = reader.Take(*head);
    status = decision.status();
    if (!status.ok()) break;
    if (!*decision) continue;
    std::lock_guard lock(mutex_);
    if (model.retired) break;
    CarryOut(model, **decision);
  }
  std::lock_guard lock(mutex_);
  model.shard_zero = nullptr;
  return status;
}

}  // namespace taas::ps
