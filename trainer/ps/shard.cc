#include "trainer/ps/shard.h"

#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/proto/shard.pb.h"
#include "trainer/ps/layout.h"
#include "trainer/ps/version_store.h"
#include "trainer/ps/wire.h"

namespace taas::ps {

using comm::Block;
using comm::Channel;
using comm::ConstBlock;
using comm::FrameHead;
using comm::FrameType;
using comm::Refusal;

namespace {

// Between two attempts to reach shard 0: it may be configured a moment later than this shard.
constexpr std::chrono::milliseconds kFollowRetry{20};
// The longest that WAIT_STEP holds its answer back; below the silence that ends a connection.
constexpr int kHoldMsMax = 5'000;

absl::Status Refuse(Channel& channel, Refusal refusal, const std::string& sentence) {
  return channel.Send({.type = FrameType::kRefused, .refusal = static_cast<uint32_t>(refusal)},
                      sentence);
}

absl::Status SendValues(Channel& channel, FrameHead head, const VersionStore::Reader& version) {
  head.type = FrameType::kValues;
  const ConstBlock block{version.values().data(), version.values().size_bytes()};
  return channel.Send(head, std::span(&block, 1));
}

}  // namespace

// One generation. Guarded by Shard::mutex_ but for what is const and the store, which guards
// itself.
struct Shard::Model {
  Model(const wire::ConfigureRequest& request, std::vector<float> values,
        std::unique_ptr<Optimizer> optimizer_in, CommittedSet committed)
      : generation(static_cast<uint32_t>(request.generation())),
        shard(request.shard()),
        shards(request.shards().begin(), request.shards().end()),
        elements(values.size()),
        optimizer(std::move(optimizer_in)),
        store(std::move(values), committed.size()),
        ledger(committed.size()) {
    for (const wire::Piece& piece : request.pieces()) {
      pieces.push_back({piece.variable(), piece.offset(), piece.count()});
    }
    if (shard == 0) {
      sequencer.emplace(static_cast<int>(shards.size()), std::move(committed),
                        request.max_steps());
    }
  }

  const uint32_t generation;
  const int shard;
  const std::vector<std::string> shards;
  const size_t elements;
  const std::unique_ptr<Optimizer> optimizer;
  std::vector<Piece> pieces;
  VersionStore store;
  PushLedger ledger;
  std::optional<Sequencer> sequencer;               // Shard 0 only.
  std::map<Pusher, std::vector<float>> gradients;   // Staged.
  std::vector<std::vector<float>> spare_gradients;  // To be filled again.
  // Shared with whoever sends it just now: another cut may take its place meanwhile.
  std::shared_ptr<const VersionStore::Reader> cut;
  int64_t cut_step = -1;
  bool retired = false;
  std::map<int, Channel*> peers;    // Shard 0 only: connections of the others.
  Channel* shard_zero = nullptr;    // The others only.
  std::thread follower;
};

Shard::Shard() : Shard(Options()) {}

Shard::Shard(Options options) : options_(options) {}

Shard::~Shard() { Close(); }

void Shard::Retire(Lock& lock) {
  const std::shared_ptr<Model> old = std::move(model_);
  model_ = nullptr;
  if (old == nullptr) return;
  old->retired = true;
  if (old->shard_zero != nullptr) old->shard_zero->Shutdown();
  for (auto& [shard, channel] : old->peers) channel->Shutdown();
  changed_.notify_all();
  lock.unlock();
  if (old->follower.joinable()) old->follower.join();
  lock.lock();
}

void Shard::Close() {
  Lock lock(mutex_);
  closing_ = true;
  changed_.notify_all();
  Retire(lock);
}

Shard::Stats Shard::stats() const {
  std::lock_guard lock(mutex_);
  if (model_ == nullptr || model_->retired) return {};
  return {model_->generation, model_->shard, model_->ledger.step(),
          static_cast<int64_t>(model_->elements * sizeof(float))};
}

void Shard::Serve(Channel& channel) {
  for (;;) {
    const auto head = channel.ReceiveHead();
    if (!head.ok()) {
      if (head.status().code() == absl::StatusCode::kDataLoss) {
        Log(LogLevel::kWarning, "connection closed", {{"why", head.status().ToString()}});
      }
      return;
    }
    const absl::Status status = Handle(channel, *head);
    if (!status.ok()) {
      Log(LogLevel::kDebug, "connection ended", {{"why", status.ToString()}});
      return;
    }
  }
}

absl::Status Shard::Handle(Channel& channel, const FrameHead& head) {
  switch (head.type) {
    case FrameType::kPush: return Push(channel, head);
    case FrameType::kPull: return Pull(channel, head);
    case FrameType::kConfigure: return Configure(channel, head);
    case FrameType::kFence: return Fence(channel, head);
    case FrameType::kCut: return Cut(channel, head);
    case FrameType::kReadCut: return ReadCut(channel, head);
    case FrameType::kReleaseCut: return ReleaseCut(channel, head);
    case FrameType::kWaitStep: return WaitStep(channel, head);
    case FrameType::kAsk: return Ask(channel);
    case FrameType::kPeerHello: return ServePeer(channel, head);
    default: break;
  }
  RETURN_IF_ERROR(channel.Discard(head.payload_bytes));
  return Refuse(channel, Refusal::kInvalid,
                "a " + comm::FrameTypeName(head.type) + " frame is no request");
}

absl::StatusOr<std::shared_ptr<Shard::Model>> Shard::ModelFor(Channel& channel,
                                                              const FrameHead& head) {
  std::string sentence;
  {
    std::lock_guard lock(mutex_);
    if (model_ != nullptr && model_->generation == head.generation && !model_->retired) {
      return model_;
    }
    sentence = "the request is of generation " + std::to_string(head.generation) + ", here is " +
               (model_ == nullptr ? "none yet" : std::to_string(model_->generation));
  }
  RETURN_IF_ERROR(channel.Discard(head.payload_bytes));
  RETURN_IF_ERROR(Refuse(channel, Refusal::kGeneration, sentence));
  return std::shared_ptr<Model>();
}

absl::Status Shard::Configure(Channel& channel, const FrameHead& head) {
  uint64_t length = 0;
  if (head.payload_bytes < sizeof(length)) return absl::DataLossError("CONFIGURE without a head");
  const Block length_block{&length, sizeof(length)};
  RETURN_IF_ERROR(channel.ReceiveInto(std::span(&length_block, 1)));
  if (length > head.payload_bytes - sizeof(length)) {
    return absl::DataLossError("CONFIGURE whose head is longer than the frame");
  }
  ASSIGN_OR_RETURN(const std::string text, channel.ReceiveText(length));
  ASSIGN_OR_RETURN(const auto request, ParseMessage<wire::ConfigureRequest>(text));
  const uint64_t bytes = head.payload_bytes - sizeof(length) - length;
  uint64_t elements = 0;
  for (const wire::Piece& piece : request.pieces()) {
    elements += static_cast<uint64_t>(piece.count());
  }
  if (bytes != elements * sizeof(float)) {
    return absl::DataLossError("CONFIGURE with " + std::to_string(bytes) + " bytes of values for " +
                               std::to_string(elements) + " elements");
  }
  std::vector<float> values(elements);
  const Block block{values.data(), bytes};
  RETURN_IF_ERROR(channel.ReceiveInto(std::span(&block, 1)));
  auto optimizer = Optimizer::Parse(request.optimizer());
  if (!optimizer.ok()) {
    return Refuse(channel, Refusal::kInvalid, std::string(optimizer.status().message()));
  }
  if ((*optimizer)->slots().size() > 0) {
    return Refuse(channel, Refusal::kInvalid, "the optimizer keeps state per variable, which "
                                              "parameter servers do not hold yet");
  }

  Lock lock(mutex_);
  // The old follower needs the lock to end; a second chief may configure meanwhile.
  while (!closing_ && model_ != nullptr) {
    if (model_->generation >= request.generation()) {
      const std::string sentence = "generation " + std::to_string(model_->generation) +
                                   " was begun here, not below " +
                                   std::to_string(request.generation());
      lock.unlock();
      return Refuse(channel, Refusal::kGeneration, sentence);
    }
    Retire(lock);
  }
  if (closing_) return absl::UnavailableError("the shard is closing");
  auto model = std::make_shared<Model>(request, std::move(values), *std::move(optimizer),
                                       FromWire(request.committed()));
  model_ = model;
  if (model->shard != 0) model->follower = std::thread([this, model] { FollowShardZero(model); });
  lock.unlock();
  Log(LogLevel::kInfo, "configured",
      {{"generation", std::to_string(model->generation)},
       {"shard", std::to_string(model->shard)},
       {"bytes", std::to_string(bytes)},
       {"step", std::to_string(model->ledger.step())}});
  return Ask(channel);
}

absl::Status Shard::Push(Channel& channel, const FrameHead& head) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, ModelFor(channel, head));
  if (model == nullptr) return absl::OkStatus();
  if (head.payload_bytes != model->elements * sizeof(float)) {
    RETURN_IF_ERROR(channel.Discard(head.payload_bytes));
    return Refuse(channel, Refusal::kInvalid,
                  "a gradient of " + std::to_string(head.payload_bytes) + " bytes for a shard of " +
                      std::to_string(model->elements * sizeof(float)));
  }
  std::vector<float> gradient;
  {
    std::lock_guard lock(mutex_);
    if (!model->spare_gradients.empty()) {
      gradient = std::move(model->spare_gradients.back());
      model->spare_gradients.pop_back();
    }
  }
  gradient.resize(model->elements);
  const Block block{gradient.data(), head.payload_bytes};
  RETURN_IF_ERROR(channel.ReceiveInto(std::span(&block, 1)));

  const PushId push = PushOf(head);
  Lock lock(mutex_);
  if (!model->retired && model->ledger.OnPush(push) == Admission::kStaged) {
    model->gradients[push.pusher] = std::move(gradient);
    OnStaged(*model, model->shard, push);
  }
  changed_.wait(lock, [&] {
    return closing_ || model->retired || model->ledger.fenced(push.pusher) ||
           model->ledger.settled(push.pusher).sequence >= push.sequence;
  });
  if (closing_) return absl::UnavailableError("the shard is closing");
  if (model->retired) {
    lock.unlock();
    return Refuse(channel, Refusal::kGeneration, "this generation has ended");
  }
  if (model->ledger.fenced(push.pusher)) {
    lock.unlock();
    return Refuse(channel, Refusal::kFenced, "the chief has given this process up");
  }
  const PushLedger::Settled settled = model->ledger.settled(push.pusher);
  const VersionStore::Reader version = model->store.Hold();
  lock.unlock();
  return SendValues(channel,
                    {.flags = settled.applied ? uint16_t{0} : comm::kFlagDropped,
                     .generation = model->generation,
                     .sequence = push.sequence,
                     .batch = push.batch,
                     .step = settled.step},
                    version);
}

absl::Status Shard::Pull(Channel& channel, const FrameHead& head) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, ModelFor(channel, head));
  if (model == nullptr) return absl::OkStatus();
  const VersionStore::Reader version = model->store.Hold();
  return SendValues(channel, {.generation = model->generation, .step = version.step()}, version);
}

absl::Status Shard::AnswerSequencer(Channel& channel, Model& model) {
  wire::SequencerState state;
  {
    std::lock_guard lock(mutex_);
    state.set_step(model.sequencer->step());
    *state.mutable_committed() = ToWire(model.sequencer->committed());
  }
  return channel.Send({.type = FrameType::kState, .generation = model.generation},
                      state.SerializeAsString());
}

absl::Status Shard::Fence(Channel& channel, const FrameHead& head) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, ModelFor(channel, head));
  if (model == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string text, channel.ReceiveText(head.payload_bytes));
  ASSIGN_OR_RETURN(const auto request, ParseMessage<wire::FenceRequest>(text));
  if (!model->sequencer) return Refuse(channel, Refusal::kInvalid, "FENCE is for shard 0");
  {
    std::lock_guard lock(mutex_);
    Broadcast(*model, model->sequencer->OnFence({static_cast<uint32_t>(request.rank()),
                                                 static_cast<uint32_t>(request.pod_number()),
                                                 request.start()}));
  }
  return AnswerSequencer(channel, *model);
}

absl::Status Shard::Cut(Channel& channel, const FrameHead& head) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, ModelFor(channel, head));
  if (model == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(channel.Discard(head.payload_bytes));
  if (!model->sequencer) return Refuse(channel, Refusal::kInvalid, "CUT is for shard 0");
  wire::SequencerState state;
  {
    std::lock_guard lock(mutex_);
    Broadcast(*model, {model->sequencer->OnCut()});
    state.set_step(model->sequencer->step());
    *state.mutable_committed() = ToWire(model->sequencer->committed());
  }
  return channel.Send({.type = FrameType::kState, .generation = model->generation},
                      state.SerializeAsString());
}

absl::Status Shard::ReadCut(Channel& channel, const FrameHead& head) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, ModelFor(channel, head));
  if (model == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(channel.Discard(head.payload_bytes));
  Lock lock(mutex_);
  changed_.wait_for(lock, options_.cut_patience, [&] {
    return closing_ || model->retired || model->cut_step >= head.step;
  });
  if (closing_) return absl::UnavailableError("the shard is closing");
  if (model->retired) {
    lock.unlock();
    return Refuse(channel, Refusal::kGeneration, "this generation has ended");
  }
  if (model->cut_step != head.step) {
    const int64_t step = model->ledger.step();
    lock.unlock();
    return Refuse(channel, Refusal::kNotYet,
                  "there is no cut at step " + std::to_string(head.step) +
                      " here, the shard is at step " + std::to_string(step));
  }
  const std::shared_ptr<const VersionStore::Reader> cut = model->cut;
  lock.unlock();
  return SendValues(channel, {.generation = model->generation, .step = head.step}, *cut);
}

absl::Status Shard::ReleaseCut(Channel& channel, const FrameHead& head) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, ModelFor(channel, head));
  if (model == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(channel.Discard(head.payload_bytes));
  {
    std::lock_guard lock(mutex_);
    model->cut = nullptr;
    model->cut_step = -1;
  }
  return Ask(channel);
}

absl::Status Shard::WaitStep(Channel& channel, const FrameHead& head) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, ModelFor(channel, head));
  if (model == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string text, channel.ReceiveText(head.payload_bytes));
  ASSIGN_OR_RETURN(const auto request, ParseMessage<wire::WaitStepRequest>(text));
  if (!model->sequencer) return Refuse(channel, Refusal::kInvalid, "WAIT_STEP is for shard 0");
  {
    Lock lock(mutex_);
    const int hold = std::min(std::max(request.hold_ms(), 0), kHoldMsMax);
    changed_.wait_for(lock, std::chrono::milliseconds(hold), [&] {
      return closing_ || model->retired || model->sequencer->step() >= request.step();
    });
    if (closing_ || model->retired) {
      lock.unlock();
      return Refuse(channel, Refusal::kGeneration, "this generation has ended");
    }
  }
  return AnswerSequencer(channel, *model);
}

absl::Status Shard::Ask(Channel& channel) {
  const Stats now = stats();
  wire::ShardState state;
  state.set_generation(now.generation);
  state.set_shard(now.shard);
  state.set_step(now.step);
  state.set_bytes(now.bytes);
  return channel.Send({.type = FrameType::kState}, state.SerializeAsString());
}

absl::Status Shard::ServePeer(Channel& channel, const FrameHead& head) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, ModelFor(channel, head));
  if (model == nullptr) return absl::OkStatus();
  const int shard = static_cast<int>(head.rank);
  if (!model->sequencer || shard <= 0 || shard >= static_cast<int>(model->shards.size())) {
    return Refuse(channel, Refusal::kInvalid, "PEER_HELLO is from shard 1 and up to shard 0");
  }
  {
    std::lock_guard lock(mutex_);
    const auto missed = model->sequencer->DecisionsAfter(head.step);
    if (!missed.ok()) {
      GiveUp(*model, missed.status());
      return missed.status();
    }
    Channel*& place = model->peers[shard];
    if (place != nullptr) place->Shutdown();
    place = &channel;
    for (const Decision& decision : *missed) {
      if (!channel.SendAtOnce(HeadOf(decision, model->generation)).ok()) channel.Shutdown();
    }
  }
  absl::Status status;
  while (status.ok()) {
    const auto staged = channel.ReceiveHead();
    status = staged.status();
    if (!status.ok()) break;
    std::lock_guard lock(mutex_);
    if (model->retired) break;
    if (staged->type == FrameType::kStaged) OnStaged(*model, shard, PushOf(*staged));
  }
  std::lock_guard lock(mutex_);
  const auto found = model->peers.find(shard);
  if (found != model->peers.end() && found->second == &channel) model->peers.erase(found);
  return absl::UnavailableError("shard " + std::to_string(shard) + " has gone");
}

void Shard::OnStaged(Model& model, int shard, const PushId& push) {
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
    // A peer that does not take 64 bytes at once reconnects and gets them again.
    for (auto& [shard, channel] : model.peers) {
      if (!channel->SendAtOnce(HeadOf(decision, model.generation)).ok()) channel->Shutdown();
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
  const auto found = model.gradients.find(decision.push.pusher);
  if (*apply && decision.kind == Decision::Kind::kCommit) {
    const std::span<const float> gradient = found->second;
    model.store.Update(decision.step, [&](std::span<const float> in, std::span<float> out) {
      size_t at = 0;
      for (const Piece& piece : model.pieces) {
        const size_t count = static_cast<size_t>(piece.count);
        model.optimizer->Apply({.gradient = gradient.subspan(at, count),
                                .in = in.subspan(at, count),
                                .out = out.subspan(at, count),
                                .step = decision.step});
        at += count;
      }
    });
    model.spare_gradients.push_back(std::move(found->second));
    model.gradients.erase(found);
  } else if (*apply && decision.kind == Decision::Kind::kCut) {
    model.cut = std::make_shared<const VersionStore::Reader>(model.store.Hold());
    model.cut_step = decision.step;
  } else if (decision.kind == Decision::Kind::kFence && found != model.gradients.end()) {
    model.gradients.erase(found);
  }
  changed_.notify_all();
}

void Shard::GiveUp(Model& model, const absl::Status& why) {
  // The chief finds this out by its next request and configures a new generation.
  Log(LogLevel::kError, "shard cannot go on in this generation",
      {{"generation", std::to_string(model.generation)}, {"why", why.ToString()}});
  model.retired = true;
  if (model.shard_zero != nullptr) model.shard_zero->Shutdown();
  changed_.notify_all();
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
    RETURN_IF_ERROR(channel->Send({.type = FrameType::kPeerHello,
                                   .generation = model.generation,
                                   .rank = static_cast<uint32_t>(model.shard),
                                   .step = model.ledger.step()}));
    model.shard_zero = channel.get();
    for (const PushId& push : model.ledger.staged()) {
      OnStaged(model, model.shard, push);
    }
  }
  absl::Status status;
  while (status.ok()) {
    const auto head = channel->ReceiveHead();
    status = head.status();
    if (!status.ok()) break;
    const auto decision = DecisionOf(*head);
    status = decision.status();
    if (!status.ok()) break;
    std::lock_guard lock(mutex_);
    if (model.retired) break;
    CarryOut(model, *decision);
  }
  std::lock_guard lock(mutex_);
  model.shard_zero = nullptr;
  return status;
}

}  // namespace taas::ps
