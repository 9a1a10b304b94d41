#include "trainer/ps/shard.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <new>
#include <span>
#include <thread>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/ps/configure_check.h"
#include "trainer/ps/shard_model.h"
#include "trainer/ps/wire.h"

namespace taas::ps {

using comm::Block;
using comm::Channel;
using comm::FrameHead;
using comm::FrameType;
using comm::Refusal;

namespace {

// Lines about strangers in the log: one that calls in a loop must not fill it.
constexpr std::chrono::seconds kComplainEvery{10};
// For answers that are on their way when this shard closes. Long for a network, short for who waits
// for the process to end.
constexpr std::chrono::milliseconds kLastAnswers{1'000};
// A job's uid and attempt.
constexpr uint64_t kHelloBytesMax = 1 << 10;
// 16 MiB: what a liar can make a shard allocate at first.
constexpr uint64_t kFloatsAtOnce = 4 << 20;

// Values as they come: memory is taken for what has arrived, not for what a head announces.
absl::StatusOr<std::vector<float>> ReceiveFloats(Channel& channel, uint64_t count) {
  std::vector<float> values;
  try {
    // Room, which takes no memory until something comes: to move what is there already takes so
    // long for a large shard that its sender gives up.
    values.reserve(count);
  } catch (const std::bad_alloc&) {
    // There may be room for what really comes.
  }
  while (values.size() < count) {
    const size_t at = values.size();
    values.resize(at + std::min<uint64_t>(count - at, std::max<uint64_t>(at, kFloatsAtOnce)));
    const Block block{values.data() + at, (values.size() - at) * sizeof(float)};
    RETURN_IF_ERROR(channel.ReceiveInto(std::span(&block, 1)));
  }
  return values;
}

}  // namespace

Shard::Shard() : Shard(Options()) {}

Shard::Shard(Options options)
    : options_(std::move(options)), own_(comm::ParseGreeting(options_.job)) {}

Shard::~Shard() { Close(); }

void Shard::Retire(Lock& lock) {
  const std::shared_ptr<Model> old = std::move(model_);
  model_ = nullptr;
  if (old == nullptr) return;
  old->retired = true;
  if (old->shard_zero != nullptr) old->shard_zero->Shutdown();
  for (auto& [shard, channel] : old->peers) channel->Shutdown();
  WakeAll();
  lock.unlock();
  if (old->follower.joinable()) old->follower.join();
  lock.lock();
}

void Shard::Close() {
  Lock lock(mutex_);
  closing_ = true;
  WakeAll();
  // The end of a job comes quickly after its last step: who has made that hears of it all the same.
  changed_.wait_for(lock, kLastAnswers, [this] { return answers_ == 0; });
  Retire(lock);
}

void Shard::WakeAll() {
  changed_.notify_all();
  reached_.notify_all();
  WakePushers();
}

void Shard::WakePushers() {
  for (const auto& [pusher, woken] : waiting_) woken->notify_all();
}

void Shard::Wake(const Pusher& pusher) {
  const auto [first, last] = waiting_.equal_range(pusher);
  for (auto it = first; it != last; ++it) it->second->notify_all();
}

Shard::Awaited Shard::Await(Lock& lock, std::condition_variable& woken, Channel& channel,
                            std::optional<std::chrono::milliseconds> limit,
                            absl::FunctionRef<bool()> done) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  for (;;) {
    const Clock::time_point look = Clock::now() + options_.look_every;
    if (woken.wait_until(lock, limit ? std::min(look, begin + *limit) : look, done)) {
      return Awaited::kDone;
    }
    if (channel.PeerHasGone()) return Awaited::kCallerGone;
    if (limit && Clock::now() >= begin + *limit) return Awaited::kNotInTime;
  }
}

Shard::Awaited Shard::AwaitAs(Lock& lock, const Pusher& pusher, Channel& channel,
                              absl::FunctionRef<bool()> done) {
  std::condition_variable woken;
  const auto place = waiting_.emplace(pusher, &woken);
  const Awaited awaited = Await(lock, woken, channel, std::nullopt, done);
  waiting_.erase(place);
  return awaited;
}

Shard::Stats Shard::stats() const {
  std::lock_guard lock(mutex_);
  if (model_ == nullptr || model_->retired) return {};
  Stats stats{.generation = model_->generation,
              .shard = model_->shard,
              .step = model_->ledger.step(),
              .bytes = static_cast<int64_t>(model_->values.elements() * sizeof(float)),
              .staged = std::ssize(model_->gradients),
              .versions = static_cast<int64_t>(model_->values.buffers())};
  for (const auto& [push, gradient] : model_->gradients) stats.staged_bytes += gradient.bytes();
  for (const std::vector<float>& spare : model_->spare_gradients) {
    stats.spare_bytes += static_cast<int64_t>(spare.capacity() * sizeof(float));
  }
  return stats;
}

void Shard::Serve(Channel& channel) {
  absl::Status status = Greet(channel);
  while (status.ok()) {
    const auto head = channel.ReceiveHead();
    status = head.status();
    if (status.ok()) status = Handle(channel, *head);
  }
  Detach(channel);
  if (!absl::IsDataLoss(status) && !absl::IsPermissionDenied(status)) {
    Log(LogLevel::kDebug, "connection ended", {{"why", status.ToString()}});
    return;
  }
  {
    std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (now < next_complaint_) return;
    next_complaint_ = now + kComplainEvery;
  }
  Log(LogLevel::kWarning, "connection of a stranger closed; training goes on",
      {{"why", std::string(status.message())}});
}

absl::Status Shard::Greet(Channel& channel) {
  channel.LimitSilence(options_.greeting_max);
  ASSIGN_OR_RETURN(const FrameHead head, channel.ReceiveHead());
  if (head.type != FrameType::kHello || head.payload_bytes > kHelloBytesMax) {
    return absl::DataLossError(channel.peer() + " does not begin with HELLO but with " +
                               comm::FrameTypeName(head.type) + " of " +
                               std::to_string(head.payload_bytes) + " bytes");
  }
  ASSIGN_OR_RETURN(const std::string job, channel.ReceiveText(head.payload_bytes));
  if (comm::IsWelcome(own_, comm::ParseGreeting(job))) {
    // Who waits for a step may be silent as long as that takes.
    channel.LimitSilence(std::chrono::milliseconds(0));
    return absl::OkStatus();
  }
  // Which job this is is nobody's business who does not know it.
  const std::string sentence =
      "the caller is of another job or attempt, or does not have this job's token";
  // It may have gone already; that it was refused is what counts.
  RETURN_IF_ERROR(Refuse(channel, Refusal::kJob, sentence));
  return absl::PermissionDeniedError(channel.peer() + " refused: " + sentence);
}

void Shard::Detach(Channel& channel) {
  channel.LetGo();
  std::lock_guard lock(mutex_);
  if (model_ == nullptr || model_->retired) return;
  // Staged on this shard, they may still be committed.
  for (auto& [push, gradient] : model_->gradients) {
    if (gradient.lies_with == &channel) gradient.Own(model_->TakeSpare());
  }
  for (auto it = model_->attached.begin(); it != model_->attached.end();) {
    if (it->second != &channel) {
      ++it;
      continue;
    }
    const Pusher pusher = it->first;
    it = model_->attached.erase(it);
    if (model_->gives_batches()) {
      Broadcast(*model_, model_->sequencer->OnGone(pusher));
      WakePushers();
    } else if (model_->named && model_->named->contains(pusher)) {
      model_->gone.insert(pusher);
    }
  }
}

absl::Status Shard::Handle(Channel& channel, const FrameHead& head) {
  switch (head.type) {
    case FrameType::kPush: return Push(channel, head);
    case FrameType::kPushRows: return PushRows(channel, head);
    case FrameType::kPull: return Pull(channel, head);
    case FrameType::kConfigure: return Configure(channel, head);
    case FrameType::kFence: return Fence(channel, head);
    case FrameType::kCut: return Cut(channel, head);
    case FrameType::kReadCut: return ReadCut(channel, head);
    case FrameType::kReleaseCut: return ReleaseCut(channel, head);
    case FrameType::kWaitStep: return WaitStep(channel, head);
    case FrameType::kAsk: return Ask(channel);
    case FrameType::kNamed: return Named(channel, head);
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

absl::StatusOr<std::shared_ptr<Shard::Model>> Shard::ModelForPusher(Channel& channel,
                                                                    const FrameHead& head) {
  ASSIGN_OR_RETURN(std::shared_ptr<Model> model, ModelFor(channel, head));
  if (model == nullptr) return model;
  {
    std::lock_guard lock(mutex_);
    if (model->MayPush(PusherOf(head))) return model;
  }
  RETURN_IF_ERROR(channel.Discard(head.payload_bytes));
  RETURN_IF_ERROR(Refuse(channel, Refusal::kFenced, "the chief does not know this process"));
  return std::shared_ptr<Model>();
}

absl::Status Shard::DoAloud(Channel& channel, bool hears, const std::function<void()>& work) {
  if (!hears) {
    work();
    return absl::OkStatus();
  }
  absl::Status told;
  const std::future<void> done = std::async(std::launch::async, work);
  while (told.ok() && done.wait_for(options_.tell_every) == std::future_status::timeout) {
    told = channel.Send({.type = FrameType::kBusy});
  }
  done.wait();
  return told;
}

absl::StatusOr<std::string> Shard::MakeWay(Lock& lock, const wire::ConfigureRequest& request) {
  // The old follower needs the lock to end; a second chief may configure meanwhile.
  while (!closing_) {
    if (request.chief_pod() > 0 && request.chief_pod() < chief_pod_) {
      return "pod " + std::to_string(chief_pod_) + " of the chief has taken the place of pod " +
             std::to_string(request.chief_pod());
    }
    if (model_ == nullptr) {
      chief_pod_ = std::max(chief_pod_, request.chief_pod());
      return std::string();
    }
    if (model_->generation >= request.generation()) {
      return "generation " + std::to_string(model_->generation) + " was begun here, not below " +
             std::to_string(request.generation());
    }
    Retire(lock);
  }
  return absl::UnavailableError("the shard is closing");
}

void Shard::Install(const std::shared_ptr<Model>& model) {
  model_ = model;
  if (options_.record != nullptr) {
    options_.record->OnGeneration({.generation = model->generation,
                                   .shard = model->shard,
                                   .shards = static_cast<int>(model->shards.size()),
                                   .step = model->ledger.step()});
  }
  if (model->shard != 0) model->follower = std::thread([this, model] { FollowShardZero(model); });
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
  // 0 gradients are aggregated where each is an update of its own.
  auto optimizer =
      Optimizer::Parse(request.optimizer(), std::max<int64_t>(1, request.aggregate()));
  const absl::Status sane =
      optimizer.ok() ? CheckConfigure(request, (*optimizer)->slots().size(), bytes)
                     : optimizer.status();
  if (!sane.ok()) {
    RETURN_IF_ERROR(channel.Discard(bytes));
    return Refuse(channel, Refusal::kInvalid, std::string(sane.message()));
  }
  (*optimizer)->StartAfter(request.step());
  ASSIGN_OR_RETURN(std::vector<float> values, ReceiveFloats(channel, bytes / sizeof(float)));

  // The place of the old values is free before that of the new ones is taken. Making these takes
  // long where there are many, so nobody else waits for it; who comes with a higher generation
  // meanwhile goes before.
  std::shared_ptr<Model> model;
  Lock lock(mutex_);
  ASSIGN_OR_RETURN(std::string refused, MakeWay(lock, request));
  if (refused.empty()) {
    lock.unlock();
    RETURN_IF_ERROR(DoAloud(channel, request.hears_busy(), [&] {
      model = std::make_shared<Model>(request, std::move(values), *std::move(optimizer));
    }));
    lock.lock();
    ASSIGN_OR_RETURN(refused, MakeWay(lock, request));
  }
  if (!refused.empty()) {
    const bool older = request.chief_pod() > 0 && request.chief_pod() < chief_pod_;
    lock.unlock();
    return Refuse(channel, older ? Refusal::kFenced : Refusal::kGeneration, refused);
  }
  Install(model);
  lock.unlock();
  Log(LogLevel::kInfo, "configured",
      {{"generation", std::to_string(model->generation)},
       {"shard", std::to_string(model->shard)},
       {"bytes", std::to_string(bytes)},
       {"step", std::to_string(model->ledger.step())}});
  channel.ForgetShared();  // As the chief does when it has the answer.
  return Ask(channel);
}

absl::Status Shard::Ask(Channel& channel) {
  const Stats now = stats();
  wire::ShardState state;
  state.set_generation(now.generation);
  state.set_shard(now.shard);
  state.set_step(now.step);
  state.set_bytes(now.bytes);
  state.set_takes_named(true);
  return channel.Send({.type = FrameType::kState}, state.SerializeAsString());
}

}  // namespace taas::ps
