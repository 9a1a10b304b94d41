#include "trainer/replica/member.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/batches/batch_leases.h"
#include "trainer/cluster/gpu_report.h"
#include "trainer/ring/ring_wire.h"

namespace taas {
namespace {

// Between calls to a chief that does not answer.
constexpr std::chrono::milliseconds kRetryFirst{20};
constexpr std::chrono::milliseconds kRetryMax{250};
// Between two calls that were answered sooner than this with nothing new: a chief that ends holds
// no call any more.
constexpr std::chrono::milliseconds kNoNewsPause{20};
// A peer that is missing for longer is named in the log.
constexpr std::chrono::seconds kFirstLog{2};

EpochWatch::Reply ToWatch(const wire::BeatReply& reply) {
  return {.view = reply.view(), .epoch = reply.ring().number(), .done = reply.done()};
}

}  // namespace

Member::Member(const Clock& clock, Options options, StatusBoard& board, const StopFlag& stop)
    : clock_(clock),
      options_(std::move(options)),
      board_(board),
      stop_(stop),
      chief_(options_.chief_address, options_.job.token,
             std::min(kBeatPatience,
                      std::chrono::duration_cast<std::chrono::milliseconds>(options_.silence))),
      incarnation_(options_.incarnation) {}

Member::~Member() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  chief_.Cancel();
  if (heartbeat_.joinable()) heartbeat_.join();
}

absl::Status Member::Start() {
  RETURN_IF_ERROR(JoinChief(options_.start_deadline));
  wait_logged_ = heard_ = clock_.Now();
  heartbeat_ = std::thread([this] { HeartbeatLoop(); });
  return absl::OkStatus();
}

wire::Identity Member::Identity() {
  std::lock_guard lock(mutex_);
  wire::Identity identity;
  identity.set_job_uid(options_.job.uid);
  identity.set_role(options_.self.role);
  identity.set_index(options_.self.index);
  identity.set_attempt(options_.job.attempt);
  identity.set_pod_number(incarnation_.pod);
  identity.set_start(incarnation_.start);
  return identity;
}

absl::Status Member::JoinChief(std::optional<Clock::Duration> limit) {
  const Clock::Time start = clock_.Now();
  Clock::Time missing_since = start;
  // The first line a moment later: at the start of a job the chief is missing for a few
  // milliseconds.
  Clock::Time log_at = start + kFirstLog;
  std::chrono::milliseconds delay = kRetryFirst;
  for (;;) {
    Answer answer = Answer::kNone;
    const absl::Status status = JoinOnce(&answer);
    if (answer == Answer::kJoined) return absl::OkStatus();
    if (!absl::IsUnavailable(status)) return status;
    const Clock::Time now = clock_.Now();
    if (answer == Answer::kGettingReady) missing_since = now;
    const std::string text = WaitingText(start, status);
    board_.SetState(RunState::kWaitingForPeers, text);
    if (now >= log_at) {
      log_at = now + kWaitLogEvery;
      Log(LogLevel::kWarning, text);
    }
    if (limit && now - missing_since > *limit) {
      return absl::DeadlineExceededError(text + ", given up after " + SecondsOf(*limit));
    }
    if (stop_.WaitFor(delay) || Closing()) return absl::CancelledError("stopped while " + text);
    delay = std::min(delay * 2, kRetryMax);
  }
}

absl::Status Member::JoinOnce(Answer* answer) {
  wire::JoinRequest request;
  *request.mutable_identity() = Identity();
  request.set_config_hash(options_.config_hash);
  request.set_data_identity(options_.data_identity);
  request.set_bulk_address(options_.bulk_address);
  request.set_last_generation(options_.generation());
  ASSIGN_OR_RETURN(const wire::JoinReply reply, chief_.Join(request));
  switch (reply.verdict()) {
    case wire::JoinReply::ACCEPTED: *answer = Answer::kJoined; return absl::OkStatus();
    case wire::JoinReply::LATER: {
      if (reply.getting_ready()) *answer = Answer::kGettingReady;
      // The chief may have given this start up while the call was under way; a new one is as good.
      std::lock_guard lock(mutex_);
      incarnation_.start = random_.Next();
      return absl::UnavailableError(reply.sentence());
    }
    default: break;
  }
  return absl::FailedPreconditionError(options_.chief_name + " refuses " + options_.self.name() +
                                       ": " + reply.sentence());
}

absl::StatusOr<wire::BeatReply> Member::Beat(const wire::BeatRequest& request) {
  // When all are told to stop the chief may be gone for good: that is worth no wait.
  return chief_.Beat(request, stop_.stopped() ? Absent::kFail : Absent::kWait);
}

void Member::PauseWithoutNews(const wire::BeatRequest& request, const wire::BeatReply& reply,
                              Clock::Time asked) {
  if (reply.view() != request.seen_view() || clock_.Now() - asked >= kNoNewsPause) return;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kNoNewsPause, [this] { return closing_ || done_ || !ended_.ok(); });
}

wire::Report Member::MakeReport() const {
  options_.before_report();
  const StatusBoard::Snapshot now = board_.snapshot();
  wire::Report report;
  report.set_state(RunStateName(now.state));
  report.set_message(now.message);
  report.set_step(now.progress.step);
  if (now.progress.loss) report.set_loss(*now.progress.loss);
  report.set_bytes(now.bytes);
  SetGpus(now.gpus, &report);
  if (now.shares) {
    wire::RankShares& shares = *report.mutable_shares();
    shares.set_compute(now.shares->compute);
    shares.set_wait(now.shares->wait);
    shares.set_exchange(now.shares->exchange);
    shares.set_hidden(now.shares->hidden);
    shares.set_bytes_per_step(now.shares->bytes_per_step);
  }
  return report;
}

void Member::HeartbeatLoop() {
  std::chrono::milliseconds delay = kRetryFirst;
  for (;;) {
    wire::BeatRequest request;
    {
      std::lock_guard lock(mutex_);
      if (closing_ || done_ || !ended_.ok()) return;
      request.set_seen_view(view_.view());
    }
    *request.mutable_identity() = Identity();
    *request.mutable_report() = MakeReport();
    const Clock::Time asked = clock_.Now();
    const auto reply = Beat(request);
    absl::Status status = reply.status();
    if (reply.ok()) {
      delay = kRetryFirst;
      status = Learn(*reply, request.identity().start());
      if (status.ok()) PauseWithoutNews(request, *reply, asked);
    } else if (Closing()) {
      return;
    } else {
      NoteTrouble(status);
      const bool stopped = stop_.WaitFor(delay);
      status = stopped ? absl::CancelledError("stopped; " + std::string(status.message()))
                       : absl::OkStatus();
      delay = std::min(delay * 2, kRetryMax);
    }
    if (!status.ok()) {
      End(status);
      return;
    }
  }
}

absl::Status Member::Learn(const wire::BeatReply& reply, uint64_t asked_start) {
  {
    // What is said of a start that was given up says nothing about the present one: the other
    // thread has joined again meanwhile.
    std::lock_guard lock(mutex_);
    if (incarnation_.start != asked_start) return absl::OkStatus();
  }
  if (reply.verdict() == wire::BeatReply::SUPERSEDED) {
    return absl::FailedPreconditionError(reply.sentence());
  }
  if (reply.verdict() == wire::BeatReply::JOIN_AGAIN) {
    std::lock_guard one_at_a_time(join_mutex_);
    {
      std::lock_guard lock(mutex_);
      // The other thread has joined again meanwhile.
      if (incarnation_.start != asked_start) return absl::OkStatus();
      incarnation_.start = random_.Next();
      view_.Clear();
      watch_.StartOver();
      if (watch_.to_leave()) options_.on_over(watch_.epoch());
      changed_.notify_all();
    }
    Log(LogLevel::kInfo, "joining again", {{"why", reply.sentence()}});
    return JoinChief(std::nullopt);
  }
  std::lock_guard lock(mutex_);
  heard_ = clock_.Now();
  if (in_trouble_ && options_.rank < 0) {
    board_.SetState(options_.generation() > 0 ? RunState::kTraining : RunState::kWaitingForPeers);
  }
  in_trouble_ = false;
  if (incarnation_.start != asked_start) return absl::OkStatus();
  if (!watch_.Learn(ToWatch(reply))) return absl::OkStatus();
  view_ = reply;
  view_.clear_batches();
  done_ = done_ || reply.done();
  // At the end of the job the last step is on its way here, too.
  if (watch_.to_leave()) options_.on_over(watch_.epoch());
  changed_.notify_all();
  return absl::OkStatus();
}

void Member::NoteTrouble(const absl::Status& error) {
  std::lock_guard lock(mutex_);
  const Clock::Time now = clock_.Now();
  if (!in_trouble_) {
    in_trouble_ = true;
    trouble_since_ = now;
    changed_.notify_all();
    Log(LogLevel::kWarning, "the chief does not answer", {{"why", error.ToString()}});
  }
  // The others may be waited for that the chief cannot tell of: this rank keeps what it has.
  if (watch_.in_epoch() && now - heard_ >= options_.silence) {
    Log(LogLevel::kWarning, "the chief is silent: leaving the epoch",
        {{"epoch", std::to_string(watch_.epoch())}, {"for", SecondsOf(now - heard_)}});
    options_.on_over(watch_.epoch());
  }
  // A training replica says so itself as soon as it lacks work.
  if (options_.rank >= 0 || stop_.stopped()) return;
  board_.SetState(RunState::kWaitingForPeers, WaitingText(trouble_since_, error));
}

std::string Member::WaitingText(Clock::Time since, const absl::Status& why) const {
  return "waiting for " + options_.chief_name + " at " + options_.chief_address + " since " +
         SecondsOf(clock_.Now() - since) + ": " + std::string(why.message());
}

void Member::ShowWaiting(const std::string& why) {
  board_.SetState(RunState::kWaitingForPeers, why);
  const Clock::Time now = clock_.Now();
  if (now - wait_logged_ < kFirstLog) return;
  // The next one comes after the pause between two lines.
  wait_logged_ = now + kWaitLogEvery - kFirstLog;
  Log(LogLevel::kWarning, why);
}

bool Member::Closing() const {
  std::lock_guard lock(mutex_);
  return closing_;
}

void Member::End(const absl::Status& status) {
  std::lock_guard lock(mutex_);
  if (ended_.ok()) ended_ = status;
  changed_.notify_all();
}

absl::Status Member::WaitForEnd() {
  std::unique_lock lock(mutex_);
  const auto over = [&] { return done_ || closing_ || !ended_.ok(); };
  while (!over() && !stop_.stopped()) changed_.wait_for(lock, kLookForStop);
  if (over()) return ended_;
  board_.SetState(RunState::kSaving,
                  "told to stop: serving until " + options_.chief_name + " has gone");
  const Clock::Time deadline = clock_.Now() + kServeAfterStop;
  while (!over() && !in_trouble_ && clock_.Now() < deadline) {
    lock.unlock();
    const absl::StatusOr<bool> may_go = AskToGo();
    lock.lock();
    if (!may_go.ok()) break;
    if (*may_go) return absl::CancelledError("stopped by a signal; the chief has the values");
    if (!over() && !in_trouble_) changed_.wait_for(lock, kLookForStop);
  }
  if (over() && ended_.ok()) return ended_;
  return absl::CancelledError("stopped by a signal");
}

absl::StatusOr<bool> Member::AskToGo() {
  wire::BeatRequest request;
  *request.mutable_identity() = Identity();
  {
    std::lock_guard lock(mutex_);
    request.set_seen_view(view_.view());
  }
  request.set_wants_to_go(true);
  ASSIGN_OR_RETURN(const wire::BeatReply reply, Beat(request));
  return reply.may_go();
}

void Member::Leave(std::chrono::milliseconds patience) {
  wire::LeaveRequest request;
  *request.mutable_identity() = Identity();
  const absl::Status status = chief_.Leave(request, patience);
  if (!status.ok()) {
    Log(LogLevel::kInfo, "the chief has gone before leave was taken", {{"why", status.ToString()}});
  }
}

int64_t Member::end_step() const {
  std::lock_guard lock(mutex_);
  return view_.step();
}

Pusher Member::PusherNow() const {
  return {static_cast<uint32_t>(options_.rank), static_cast<uint32_t>(incarnation_.pod),
          incarnation_.start};
}

absl::StatusOr<Work> Member::Next() {
  ++lease_sequence_;
  for (;;) {
    if (stop_.stopped()) return absl::CancelledError("stopped");
    wire::BeatRequest request;
    *request.mutable_identity() = Identity();
    {
      std::lock_guard lock(mutex_);
      if (!ended_.ok()) return ended_;
      if (done_) return Work{.done = true};
      request.set_seen_view(view_.view());
    }
    request.set_wanted(kGrantMax);
    request.set_lease_sequence(lease_sequence_);
    const Clock::Time asked = clock_.Now();
    const auto reply = Beat(request);
    if (!reply.ok()) {
      ShowTrouble(reply.status());
      continue;
    }
    const absl::Status learned = Learn(*reply, request.identity().start());
    if (!learned.ok()) {
      End(learned);
      continue;
    }
    if (reply->verdict() != wire::BeatReply::KNOWN) continue;
    const bool from_shards = reply->ready() && reply->shards_give_batches();
    if (reply->batches().empty() && !from_shards) {
      if (!reply->waiting_for().empty()) ShowWaiting(reply->waiting_for());
      PauseWithoutNews(request, *reply, asked);
      continue;
    }
    board_.SetState(RunState::kTraining);
    Work work;
    work.generation = reply->generation();
    work.shards.assign(reply->shards().begin(), reply->shards().end());
    work.job = JobKey(options_.job);
    work.from_shards = from_shards;
    work.batches.assign(reply->batches().begin(), reply->batches().end());
    std::lock_guard lock(mutex_);
    if (incarnation_.start != request.identity().start()) continue;
    work.pusher = PusherNow();
    return work;
  }
}

void Member::ShowTrouble(const absl::Status& error) {
  NoteTrouble(error);
  Clock::Time since;
  {
    std::lock_guard lock(mutex_);
    since = trouble_since_;
  }
  board_.SetState(RunState::kWaitingForPeers, WaitingText(since, error));
  stop_.WaitFor(kRetryFirst);
}

absl::StatusOr<std::optional<Epoch>> Member::Next(const Standing& standing,
                                                  std::optional<int> lost) {
  for (;;) {
    if (stop_.stopped()) return absl::CancelledError("stopped");
    wire::BeatRequest request;
    *request.mutable_identity() = Identity();
    *request.mutable_ring() = ToWire(standing);
    request.mutable_ring()->set_waiting(true);
    if (lost) request.mutable_ring()->set_lost(*lost);
    {
      std::lock_guard lock(mutex_);
      watch_.Leave();
      if (!ended_.ok()) return ended_;
      if (done_) return std::nullopt;
      request.set_seen_view(view_.view());
      request.mutable_ring()->set_epoch(watch_.epoch());
    }
    const Clock::Time asked = clock_.Now();
    const auto reply = Beat(request);
    if (!reply.ok()) {
      ShowTrouble(reply.status());
      continue;
    }
    const absl::Status learned = Learn(*reply, request.identity().start());
    if (!learned.ok()) {
      End(learned);
      continue;
    }
    if (reply->verdict() != wire::BeatReply::KNOWN) continue;
    if (!reply->has_ring() || reply->ring().number() <= request.ring().epoch()) {
      if (!reply->waiting_for().empty()) ShowWaiting(reply->waiting_for());
      PauseWithoutNews(request, *reply, asked);
      continue;
    }
    ASSIGN_OR_RETURN(Epoch epoch, FromWire(reply->ring()));
    {
      std::lock_guard lock(mutex_);
      if (incarnation_.start != request.identity().start()) continue;
      if (!watch_.Enter(ToWatch(*reply))) continue;
    }
    board_.SetState(RunState::kTraining);
    return epoch;
  }
}

void Member::Outlast() {
  std::unique_lock lock(mutex_);
  const auto over = [&] {
    return closing_ || done_ || !ended_.ok() || watch_.over();
  };
  while (!over() && !stop_.stopped()) changed_.wait_for(lock, kLookForStop);
}

bool Member::StillCurrent(int64_t generation, const Pusher& pusher) {
  if (stop_.stopped()) return false;
  std::lock_guard lock(mutex_);
  return ended_.ok() && !done_ && view_.generation() == generation && pusher == PusherNow();
}

}  // namespace taas
