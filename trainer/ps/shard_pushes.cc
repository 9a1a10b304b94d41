// What training replicas ask for: to have a gradient counted, and values.

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/status.h"
#include "trainer/ps/shard.h"
#include "trainer/ps/shard_model.h"
#include "trainer/ps/wire.h"

namespace taas::ps {

using comm::Block;
using comm::Channel;
using comm::FrameHead;
using comm::Refusal;

absl::Status Shard::Push(Channel& channel, const FrameHead& head) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, ModelFor(channel, head));
  if (model == nullptr) return absl::OkStatus();
  if (head.payload_bytes != model->elements * sizeof(float)) {
    RETURN_IF_ERROR(channel.Discard(head.payload_bytes));
    return Refuse(channel, Refusal::kInvalid,
                  "a gradient of " + std::to_string(head.payload_bytes) + " bytes for a shard of " +
                      std::to_string(model->elements * sizeof(float)));
  }
  ASSIGN_OR_RETURN(Gradient gradient, ReceiveGradient(channel, *model));
  return Stage(channel, model, head, std::move(gradient));
}

absl::Status Shard::PushRows(Channel& channel, const FrameHead& head) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, ModelFor(channel, head));
  if (model == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::optional<Gradient> gradient,
                   ReceiveRows(channel, *model, head.payload_bytes));
  if (!gradient) return absl::OkStatus();
  return Stage(channel, model, head, *std::move(gradient));
}

absl::Status Shard::Stage(Channel& channel, const std::shared_ptr<Model>& model,
                          const FrameHead& head, Gradient gradient) {
  const StagedPush staged = StagedOf(head);
  Lock lock(mutex_);
  if (!model->retired) {
    // Also with a push that was settled before: what its answer gives is lost with this connection.
    Attach(*model, staged.push.pusher, channel);
    if (model->ledger.OnPush(staged) == Admission::kStaged) {
      model->gradients[staged.push] = std::move(gradient);
      if (model->gives_batches()) Broadcast(*model, model->sequencer->OnHere(staged.push));
      OnStaged(*model, model->shard, staged);
    }
  }
  return AnswerPush(channel, model, staged.push, std::move(lock));
}

absl::StatusOr<Gradient> Shard::ReceiveGradient(Channel& channel, Model& model) {
  Gradient gradient;
  if (const std::span<const char> there = channel.PayloadInPlace(); !there.empty()) {
    gradient.values = {reinterpret_cast<const float*>(there.data()), model.elements};
    gradient.lies_with = &channel;
    return gradient;
  }
  {
    std::lock_guard lock(mutex_);
    if (!model.spare_gradients.empty()) {
      gradient.own = std::move(model.spare_gradients.back());
      model.spare_gradients.pop_back();
    }
  }
  gradient.own.resize(model.elements);
  gradient.values = gradient.own;
  const Block block{gradient.own.data(), model.elements * sizeof(float)};
  RETURN_IF_ERROR(channel.ReceiveInto(std::span(&block, 1)));
  return gradient;
}

absl::StatusOr<std::optional<Gradient>> Shard::ReceiveRows(Channel& channel, Model& model,
                                                           uint64_t payload_bytes) {
  const auto refuse = [&](uint64_t left,
                          const absl::Status& why) -> absl::StatusOr<std::optional<Gradient>> {
    RETURN_IF_ERROR(channel.Discard(left));
    RETURN_IF_ERROR(Refuse(channel, Refusal::kInvalid, std::string(why.message())));
    return std::optional<Gradient>();
  };
  Gradient gradient;
  gradient.heads.resize(model.pieces.size());
  const std::span<RowHead> heads = gradient.heads;
  if (payload_bytes < heads.size_bytes()) {
    return refuse(payload_bytes, absl::InvalidArgumentError(
                                     "a push of rows of " + std::to_string(payload_bytes) +
                                     " bytes for " + std::to_string(heads.size()) + " pieces"));
  }
  const Block first{heads.data(), heads.size_bytes()};
  RETURN_IF_ERROR(channel.ReceiveInto(std::span(&first, 1)));
  const auto sizes = SizesOf(heads, model.pieces, payload_bytes);
  if (!sizes.ok()) return refuse(payload_bytes - heads.size_bytes(), sizes.status());
  gradient.ids.resize(sizes->ids);
  gradient.own.resize(sizes->values);
  gradient.values = gradient.own;
  const Block rest[] = {{gradient.ids.data(), sizes->ids * sizeof(int32_t)},
                        {gradient.own.data(), sizes->values * sizeof(float)}};
  RETURN_IF_ERROR(channel.ReceiveInto(rest));
  const absl::Status sane = CheckIds(heads, model.pieces, gradient.ids);
  if (!sane.ok()) return refuse(0, sane);
  return std::optional<Gradient>(std::move(gradient));
}

absl::Status Shard::AnswerPush(Channel& channel, const std::shared_ptr<Model>& shared,
                               const PushId& push, Lock lock) {
  Model& model = *shared;
  std::optional<int64_t> batch;
  changed_.wait(lock, [&] {
    if (Over(model, push.pusher, channel)) return true;
    const bool answered = model.ledger.settled(push.pusher).sequence >= push.sequence ||
                          model.ledger.banked(push);
    return answered && HasTurn(model, push.pusher, &batch);
  });
  if (Over(model, push.pusher, channel)) {
    return AnswerOver(channel, model, push.pusher, std::move(lock));
  }
  const PushLedger::Settled settled = model.ledger.settled(push.pusher);
  auto version = std::make_shared<const HeldVersion>(shared, model.store.Hold());
  const bool banked = settled.sequence < push.sequence;
  // The answer lets the sender make its next gradient where this one lies.
  if (const auto found = model.gradients.find(push); banked && found != model.gradients.end()) {
    found->second.Own();
  }
  lock.unlock();
  const ValuesInfo info{.values_step = version->reader.step(),
                        .push_step = settled.step,
                        .dropped = !banked && !settled.applied,
                        .banked = banked,
                        .batch = batch};
  return SendValues(channel, HeadOf(info, model.generation), std::move(version),
                    banked ? 0 : model.elements);
}

absl::Status Shard::Pull(Channel& channel, const FrameHead& head) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, ModelFor(channel, head));
  if (model == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(channel.Discard(head.payload_bytes));
  const Pusher pusher = PusherOf(head);
  std::optional<int64_t> batch;
  Lock lock(mutex_);
  if (!model->retired) Attach(*model, pusher, channel);
  changed_.wait(lock, [&] {
    return Over(*model, pusher, channel) || HasTurn(*model, pusher, &batch);
  });
  if (Over(*model, pusher, channel)) return AnswerOver(channel, *model, pusher, std::move(lock));
  auto version = std::make_shared<const HeldVersion>(model, model->store.Hold());
  lock.unlock();
  const ValuesInfo info{.values_step = version->reader.step(), .batch = batch};
  return SendValues(channel, HeadOf(info, model->generation), std::move(version),
                    model->elements);
}

bool Shard::HasTurn(Model& model, const Pusher& pusher, std::optional<int64_t>* batch) {
  if (!model.gives_batches()) return true;
  *batch = model.sequencer->Next(pusher);
  return batch->has_value() || model.sequencer->finished();
}

void Shard::Attach(Model& model, const Pusher& pusher, Channel& channel) {
  if (!model.gives_batches() || model.ledger.fenced(pusher)) return;
  Channel*& place = model.attached[pusher];
  if (place == &channel) return;
  place = &channel;
  // The thread of the connection before may still wait for a turn.
  changed_.notify_all();
}

bool Shard::Over(const Model& model, const Pusher& pusher, const Channel& channel) const {
  if (closing_ || model.retired || model.ledger.fenced(pusher)) return true;
  if (!model.gives_batches()) return false;
  const auto attached = model.attached.find(pusher);
  return attached == model.attached.end() || attached->second != &channel;
}

absl::Status Shard::AnswerOver(Channel& channel, const Model& model, const Pusher& pusher,
                               Lock lock) {
  if (closing_) return absl::UnavailableError("the shard is closing");
  const bool retired = model.retired;
  const bool fenced = model.ledger.fenced(pusher);
  lock.unlock();
  if (retired) return Refuse(channel, Refusal::kGeneration, "this generation has ended");
  if (fenced) return Refuse(channel, Refusal::kFenced, "the chief has given this process up");
  return absl::UnavailableError("the replica has come by another connection");
}

}  // namespace taas::ps
