// What training replicas ask for: to have a gradient counted, and values.

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/status.h"
#include "trainer/loops/bfloat16_loops.h"
#include "trainer/ps/shard.h"
#include "trainer/ps/shard_model.h"
#include "trainer/ps/wire.h"

namespace taas::ps {

using comm::Block;
using comm::Channel;
using comm::FrameHead;
using comm::Refusal;

namespace {

absl::Status CallerGone(const Channel& channel) {
  return absl::UnavailableError(channel.peer() + " has gone while it was to be answered");
}

}  // namespace

absl::Status Shard::Push(Channel& channel, const FrameHead& head) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, ModelForPusher(channel, head));
  if (model == nullptr) return absl::OkStatus();
  const bool narrow = (head.flags & comm::kFlagNarrow) != 0;
  const size_t bytes = model->values.elements() * sizeof(float) -
                       (narrow ? model->values.trained_elements() * sizeof(uint16_t) : 0);
  if (head.payload_bytes != bytes) {
    RETURN_IF_ERROR(channel.Discard(head.payload_bytes));
    return Refuse(channel, Refusal::kInvalid,
                  "a gradient of " + std::to_string(head.payload_bytes) + " bytes for a shard of " +
                      std::to_string(bytes));
  }
  ASSIGN_OR_RETURN(Gradient gradient, ReceiveGradient(channel, *model, narrow));
  return Stage(channel, model, head, std::move(gradient));
}

absl::Status Shard::PushRows(Channel& channel, const FrameHead& head) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, ModelForPusher(channel, head));
  if (model == nullptr) return absl::OkStatus();
  int64_t have = -1;
  const Block first{&have, sizeof(have)};
  if (head.payload_bytes < first.bytes) {
    RETURN_IF_ERROR(channel.Discard(head.payload_bytes));
    return Refuse(channel, Refusal::kInvalid, "a push of rows without the step of its values");
  }
  RETURN_IF_ERROR(channel.ReceiveInto(std::span(&first, 1)));
  auto rows = ReceiveRows(channel, model->values.pieces(), head.payload_bytes - first.bytes);
  if (absl::IsInvalidArgument(rows.status())) {
    return Refuse(channel, Refusal::kInvalid, std::string(rows.status().message()));
  }
  RETURN_IF_ERROR(rows.status());
  Gradient gradient;
  gradient.rows = *std::move(rows);
  return Stage(channel, model, head, std::move(gradient), have);
}

absl::Status Shard::Stage(Channel& channel, const std::shared_ptr<Model>& model,
                          const FrameHead& head, Gradient gradient,
                          std::optional<int64_t> have) {
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
  ++answers_;
  const absl::Status status = AnswerPush(channel, model, staged.push, have, std::move(lock));
  std::lock_guard after(mutex_);
  if (--answers_ == 0 && closing_) changed_.notify_all();
  return status;
}

absl::StatusOr<Gradient> Shard::ReceiveGradient(Channel& channel, Model& model, bool narrow) {
  Gradient gradient;
  if (!narrow) {
    if (const std::span<const char> there = channel.PayloadInPlace(); !there.empty()) {
      gradient.values = {reinterpret_cast<const float*>(there.data()), model.values.elements()};
      gradient.lies_with = &channel;
      return gradient;
    }
  }
  {
    std::lock_guard lock(mutex_);
    gradient.own = model.TakeSpare();
  }
  gradient.own.resize(model.values.elements());
  gradient.values = gradient.own;
  if (!narrow) {
    const Block block{gradient.own.data(), model.values.elements() * sizeof(float)};
    RETURN_IF_ERROR(channel.ReceiveInto(std::span(&block, 1)));
    return gradient;
  }
  const size_t trained = model.values.trained_elements();
  std::vector<uint16_t> rounded(trained);
  const Block blocks[] = {{rounded.data(), trained * sizeof(uint16_t)},
                          {gradient.own.data() + trained,
                           (model.values.elements() - trained) * sizeof(float)}};
  RETURN_IF_ERROR(channel.ReceiveInto(blocks));
  BestBFloat16Loops().widen(rounded.data(), gradient.own.data(), static_cast<int64_t>(trained));
  return gradient;
}

absl::Status Shard::AnswerPush(Channel& channel, const std::shared_ptr<Model>& shared,
                               const PushId& push, std::optional<int64_t> have, Lock lock) {
  Model& model = *shared;
  std::optional<int64_t> batch;
  bool answered = false;
  const Awaited awaited = AwaitAs(lock, push.pusher, channel, [&] {
    if (Gone(model, push.pusher, channel)) return true;
    answered = (model.ledger.settled(push.pusher).sequence >= push.sequence ||
                model.ledger.banked(push)) &&
               HasTurn(model, push.pusher, &batch);
    return answered || closing_;
  });
  if (awaited == Awaited::kCallerGone) return CallerGone(channel);
  if (!answered) {
    return AnswerOver(channel, model, push.pusher, std::move(lock));
  }
  const PushLedger::Settled settled = model.ledger.settled(push.pusher);
  auto version = std::make_shared<const HeldVersion>(shared, model.values.Hold());
  const std::optional<int64_t> oldest = OldestFor(model, push.pusher);
  const bool banked = settled.sequence < push.sequence;
  // The answer lets the sender make its next gradient where this one lies.
  if (const auto found = model.gradients.find(push); banked && found != model.gradients.end()) {
    found->second.Own(model.TakeSpare());
  }
  std::vector<RowChanges::Rows> changed;
  if (have && !banked) changed = model.values.ChangedSince(*have);
  lock.unlock();
  const ValuesInfo info{.values_step = version->reader.step(),
                        .push_step = settled.step,
                        .dropped = !banked && !settled.applied,
                        .banked = banked,
                        .batch = batch,
                        .oldest = oldest};
  if (!changed.empty()) {
    ASSIGN_OR_RETURN(const bool sent, SendChanged(channel, info, model.values.pieces(), changed,
                                                  model.generation, *version));
    if (sent) return absl::OkStatus();
  }
  return SendValues(channel, HeadOf(info, model.generation), std::move(version),
                    banked ? 0 : model.values.elements());
}

absl::Status Shard::Pull(Channel& channel, const FrameHead& head) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, ModelForPusher(channel, head));
  if (model == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(channel.Discard(head.payload_bytes));
  const Pusher pusher = PusherOf(head);
  std::optional<int64_t> batch;
  Lock lock(mutex_);
  if (!model->retired) Attach(*model, pusher, channel);
  const Awaited awaited = AwaitAs(lock, pusher, channel, [&] {
    return Over(*model, pusher, channel) || HasTurn(*model, pusher, &batch);
  });
  if (awaited == Awaited::kCallerGone) return CallerGone(channel);
  if (Over(*model, pusher, channel)) return AnswerOver(channel, *model, pusher, std::move(lock));
  auto version = std::make_shared<const HeldVersion>(model, model->values.Hold());
  const std::optional<int64_t> oldest = OldestFor(*model, pusher);
  lock.unlock();
  const ValuesInfo info{
      .values_step = version->reader.step(), .batch = batch, .oldest = oldest};
  return SendValues(channel, HeadOf(info, model->generation), std::move(version),
                    model->values.elements());
}

bool Shard::HasTurn(Model& model, const Pusher& pusher, std::optional<int64_t>* batch) {
  if (!model.gives_batches()) return true;
  *batch = model.sequencer->Next(pusher);
  return batch->has_value() || model.sequencer->finished();
}

std::optional<int64_t> Shard::OldestFor(const Model& model, const Pusher& pusher) {
  return model.sequencer ? model.sequencer->OldestFor(pusher) : std::nullopt;
}

void Shard::Attach(Model& model, const Pusher& pusher, Channel& channel) {
  if (model.ledger.fenced(pusher)) return;
  model.gone.erase(pusher);
  Channel*& place = model.attached[pusher];
  if (place == &channel) return;
  place = &channel;
  // The thread of the connection before may still wait for an answer or a turn.
  Wake(pusher);
}

bool Shard::Over(const Model& model, const Pusher& pusher, const Channel& channel) const {
  return closing_ || Gone(model, pusher, channel);
}

bool Shard::Gone(const Model& model, const Pusher& pusher, const Channel& channel) const {
  if (model.retired || model.ledger.fenced(pusher)) return true;
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
