// What the chief orders: fences, cuts, and to be told how far the job is.

#include <algorithm>
#include <chrono>

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

// The longest that WAIT_STEP holds its answer back; below the silence that ends a connection.
constexpr int kHoldMsMax = 5'000;

}  // namespace

absl::Status Shard::AnswerSequencer(Channel& channel, Model& model) {
  wire::SequencerState state;
  {
    std::lock_guard lock(mutex_);
    state.set_step(model.sequencer->step());
    *state.mutable_committed() = ToWire(model.sequencer->committed());
    for (const Pusher& pusher : model.gone) *state.add_gone() = ToWire(pusher);
  }
  return channel.Send({.type = FrameType::kState, .generation = model.generation},
                      state.SerializeAsString());
}

absl::Status Shard::Named(Channel& channel, const FrameHead& head) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, ModelFor(channel, head));
  if (model == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string text, channel.ReceiveText(head.payload_bytes));
  ASSIGN_OR_RETURN(const auto request, ParseMessage<wire::NamedRequest>(text));
  {
    std::lock_guard lock(mutex_);
    model->SetNamed(request);
  }
  return Ask(channel);
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
  // -1 is what is said of a cut that there is not.
  if (head.step < 0) {
    return Refuse(channel, Refusal::kInvalid,
                  "READ_CUT of step " + std::to_string(head.step) + ", which no cut has");
  }
  Lock lock(mutex_);
  const Awaited awaited = Await(lock, changed_, channel, options_.cut_patience, [&] {
    return closing_ || model->retired || model->values.cut_step() >= head.step;
  });
  if (awaited == Awaited::kCallerGone) return absl::UnavailableError("the caller has gone");
  for (;;) {
    if (closing_) return absl::UnavailableError("the shard is closing");
    if (model->retired) {
      lock.unlock();
      return Refuse(channel, Refusal::kGeneration, "this generation has ended");
    }
    if (model->values.cut_step() != head.step) {
      const int64_t step = model->ledger.step();
      lock.unlock();
      return Refuse(channel, Refusal::kNotYet,
                    "there is no cut at step " + std::to_string(head.step) +
                        " here, the shard is at step " + std::to_string(step));
    }
    const auto copying = model->values.Copying();
    if (copying == nullptr) break;
    lock.unlock();
    RETURN_IF_ERROR(DoAloud(channel, model->hears_busy, [&] { copying->AwaitEnd(); }));
    lock.lock();
  }
  // Another cut may take its place while this one is read.
  const auto cut = std::make_shared<const HeldVersion>(model, model->values.HoldCut());
  lock.unlock();
  return SendValues(channel, {.generation = model->generation, .step = head.step}, cut,
                    cut->reader.values().size());
}

absl::Status Shard::ReleaseCut(Channel& channel, const FrameHead& head) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, ModelFor(channel, head));
  if (model == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(channel.Discard(head.payload_bytes));
  {
    std::lock_guard lock(mutex_);
    model->values.ReleaseCut();
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
    const auto awaited = awaited_.insert(request.step());
    const Awaited reached =
        Await(lock, reached_, channel, std::chrono::milliseconds(hold), [&] {
          return closing_ || model->retired || model->sequencer->step() >= request.step();
        });
    awaited_.erase(awaited);
    if (reached == Awaited::kCallerGone) return absl::UnavailableError("the caller has gone");
    if (closing_ || model->retired) {
      lock.unlock();
      return Refuse(channel, Refusal::kGeneration, "this generation has ended");
    }
  }
  return AnswerSequencer(channel, *model);
}

}  // namespace taas::ps
