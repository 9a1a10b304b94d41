#include "dashboard/logs/log_stream.h"

#include <algorithm>
#include <utility>

namespace taas::dashboard {

using State = LogReader::State;

namespace {

constexpr char kWhat[] = "a stream of logs of the dashboard";

// "worker" of "worker-1".
std::string_view RoleOf(std::string_view replica) { return replica.substr(0, replica.rfind('-')); }

}  // namespace

LogStream::LogStream(const Context& context, Options options)
    : context_(context),
      executor_(context.executor, kWhat, [this] { Fail(); }),
      options_(std::move(options)) {}

LogStream::~LogStream() {
  for (const Executor::TimerId timer : {wake_timer_, beat_timer_}) {
    if (timer != 0) executor_.Cancel(timer);
  }
}

void LogStream::Try(const std::function<void()>& run) {
  if (!RunCaught(kWhat, run)) Fail();
}

void LogStream::Fail() {
  const auto end = [this] { End("read the logs: the dashboard could not; its log says why"); };
  if (RunCaught(kWhat, end) || sink_ == nullptr) return;
  std::exchange(sink_, nullptr)->End();
  readers_.clear();
  sources_.clear();
}

void LogStream::Open(std::shared_ptr<StreamSink> sink) {
  sink_ = std::move(sink);
  Try([this] { Begin(); });
}

void LogStream::Begin() {
  const LogPods now = context_.pods();
  const auto wanted = static_cast<size_t>(std::count_if(
      now.pods.begin(), now.pods.end(), [this](const LogPod& pod) { return Wants(pod); }));
  const size_t share = options_.windows_bytes / std::clamp<size_t>(wanted, 1, kPodsMax);
  window_bytes_ = std::min(std::clamp(share, kWindowBytesMin, kWindowBytesMax),
                           options_.window_bytes);
  if (!options_.follow) TellAbsent(now);
  LookAt(now, /*take_new=*/true);
  Beat();
}

bool LogStream::Wants(const LogPod& pod) const {
  return options_.replicas.empty() || options_.replicas.count(pod.replica) > 0 ||
         options_.replicas.count(RoleOf(pod.replica)) > 0;
}

// Who does not wait hears why something does not come.
void LogStream::TellAbsent(const LogPods& now) {
  std::set<std::string, std::less<>> absent = options_.replicas;
  for (const LogPod& pod : now.pods) {
    absent.erase(pod.replica);
    absent.erase(std::string(RoleOf(pod.replica)));
    if (!Wants(pod) || pod.state != LogPod::State::kWaiting) continue;
    Say(pod, "read the log of pod " + pod.ns + "/" + pod.name + ": it has not started" +
                 (pod.message.empty() ? "" : ": " + pod.message));
  }
  for (const std::string& replica : absent) {
    Say({.replica = replica}, "read the log of " + replica + ": it has no pod now");
  }
  if (now.pods.empty() && options_.replicas.empty()) {
    Say({}, "read the logs: the job has no pods now");
  }
}

void LogStream::OnChange() {
  Try([this] { LookAt(context_.pods(), options_.follow); });
}

void LogStream::LookAt(const LogPods& now, bool take_new) {
  if (sink_ == nullptr) return;
  over_ = now.over;
  std::set<std::string> there;
  for (const LogPod& pod : now.pods) {
    there.insert(pod.uid);
    if (const auto known = sources_.find(pod.uid); known != sources_.end()) {
      readers_[known->second]->SetPod(pod);
    } else if (take_new && Wants(pod) && pod.state != LogPod::State::kWaiting) {
      AddReader(pod);
    }
  }
  for (const auto& [uid, source] : sources_) {
    if (there.count(uid) == 0) readers_[source]->SetGone();
  }
  Wake();
}

void LogStream::AddReader(const LogPod& pod) {
  const auto active = std::count_if(readers_.begin(), readers_.end(), [](const auto& reader) {
    return reader->state() != State::kDone;
  });
  if (static_cast<size_t>(active) >= kPodsMax) {
    if (std::exchange(too_many_, true)) return;
    return Say({}, "read the logs: no more than " + std::to_string(kPodsMax) +
               " pods are read at once; choose some replicas to see others");
  }
  const size_t source = merge_.Add();
  sources_[pod.uid] = source;
  readers_.push_back(std::make_unique<LogReader>(
      context_.callers, executor_, pod,
      LogReader::Options{.token = options_.token,
                         .previous = options_.previous,
                         .follow = options_.follow,
                         .tail = options_.tail,
                         .since = options_.since,
                         .window_bytes = window_bytes_},
      LogReader::Calls{.entry =
                           [this, source](LogEntry entry) {
                             entry.source = source;
                             OnEntry(std::move(entry));
                           },
                       .changed = [this] { Wake(); },
                       .failed = [this] { FailLater(); }}));
  if (!following_) return;
  merge_.Close(source);
  readers_[source]->Follow();
}

void LogStream::OnEntry(LogEntry entry) {
  if (readers_[entry.source]->state() != State::kFollowing) return merge_.Push(std::move(entry));
  sorter_.Push(std::move(entry), executor_.clock().Now());
  Wake();
}

void LogStream::Wake() {
  if (std::exchange(woken_, true)) return;
  executor_.Post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.lock() == nullptr) return;
    woken_ = false;
    Pump();
  });
}

// From a call of a reader, which must not go in it.
void LogStream::FailLater() {
  executor_.Post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.lock() != nullptr) Fail();
  });
}

bool LogStream::Room() { return sink_->unsent() + out_.size() < kUnsentMax; }

std::optional<LogEntry> LogStream::Next() {
  // What was held comes before what is read after it, and does not wait where it is too much.
  const bool at_once = !following_ || sorter_.bytes() > kHeldBytesMax;
  if (!sorter_.empty() && at_once) return sorter_.Next(Clock::Time::max());
  return following_ ? sorter_.Next(executor_.clock().Now()) : merge_.Next();
}

void LogStream::Pump() {
  if (sink_ == nullptr) return;
  if (wake_timer_ != 0) executor_.Cancel(std::exchange(wake_timer_, 0));
  const auto wake_in = [this](Clock::Duration delay) {
    wake_timer_ = executor_.PostAfter(delay, [this] {
      wake_timer_ = 0;
      Pump();
    });
  };
  CloseThoseAtEnd();
  size_t slice = 0;
  while (sink_ != nullptr) {
    if (!Room()) {
      Flush();
      if (following_) PauseFollow();
      return wake_in(kDrainCheck);
    }
    const std::optional<LogEntry> entry = Next();
    if (!entry.has_value()) break;
    Append(*entry);
    slice += entry->bytes();
    if (slice < kSliceBytes) continue;
    Flush();
    AskForWindows();
    return Wake();
  }
  Flush();
  if (sink_ == nullptr) return;
  AskForWindows();
  if (!following_ && merge_.drained()) OnDrained();
  if (following_) EndIfOver();
  if (const auto due = sorter_.due(); due.has_value() && sink_ != nullptr) {
    wake_in(std::max(*due - executor_.clock().Now(), Clock::Duration::zero()));
  }
}

void LogStream::Append(const LogEntry& entry) {
  const LogPod& pod = readers_[entry.source]->pod();
  Write({.replica = pod.replica, .pod_number = pod.pod_number, .entry = entry});
  if (out_.size() >= kChunkBytes) Flush();
}

void LogStream::Say(const LogPod& pod, const std::string& message) {
  Write({.replica = pod.replica,
         .pod_number = pod.pod_number,
         .entry = {.line = {.text = message}, .note = LogNote::kError}});
}

void LogStream::Write(const LogRecord& record) {
  options_.plain ? AppendLogText(record, &out_) : AppendLogRecord(record, &out_);
}

void LogStream::Flush() {
  if (out_.empty() || sink_ == nullptr) return;
  silent_ = false;
  if (!sink_->Write(Shared(std::exchange(out_, std::string())))) {
    // Nobody reads any more: what is under way is given up.
    sink_ = nullptr;
    readers_.clear();
    sources_.clear();
  }
}

void LogStream::CloseThoseAtEnd() {
  for (size_t source = 0; source < readers_.size(); ++source) {
    const State state = readers_[source]->state();
    if (state == State::kAtEnd || state == State::kDone) merge_.Close(source);
  }
}

void LogStream::AskForWindows() {
  if (following_) return;
  size_t under_way = 0;
  for (const auto& reader : readers_) {
    under_way += reader->state() == State::kFetching ? 1 : 0;
  }
  // First those that the others wait for. Half of a window is left while the next is on its way.
  for (const size_t bytes_left : {size_t{0}, window_bytes_ / 2}) {
    for (size_t source = 0; source < readers_.size(); ++source) {
      if (under_way >= kWindowsAtOnce) return;
      if (readers_[source]->state() != State::kIdle) continue;
      if (merge_.bytes(source) > bytes_left) continue;
      ++under_way;
      readers_[source]->Fetch();
    }
  }
}

void LogStream::OnDrained() {
  for (const auto& reader : readers_) {
    if (reader->unauthenticated()) return End("");
  }
  options_.follow ? BeginFollow() : End("");
}

void LogStream::BeginFollow() {
  following_ = true;
  if (!options_.plain && !std::exchange(live_, true)) {
    Write({.entry = {.note = LogNote::kLive}});
    Flush();
  }
  for (const auto& reader : readers_) {
    if (reader->state() == State::kAtEnd) reader->Follow();
  }
}

void LogStream::PauseFollow() {
  following_ = false;
  for (size_t source = 0; source < readers_.size(); ++source) {
    readers_[source]->Rest();
    if (readers_[source]->state() == State::kIdle) merge_.Open(source);
  }
}

void LogStream::EndIfOver() {
  if (!sorter_.empty()) return;
  bool all_done = true;
  for (const auto& reader : readers_) {
    if (reader->unauthenticated()) return End("");
    all_done = all_done && reader->state() == State::kDone;
  }
  if (over_ && all_done) End("");
}

void LogStream::End(const std::string& why) {
  if (sink_ == nullptr) return;
  if (!why.empty()) Say({}, why);
  Flush();
  if (sink_ != nullptr) std::exchange(sink_, nullptr)->End();
  readers_.clear();
  sources_.clear();
}

void LogStream::Beat() {
  if (std::exchange(silent_, true) && sink_ != nullptr && !options_.plain) {
    sink_->Write(Shared("\n"));
  }
  beat_timer_ = executor_.PostAfter(kHeartbeat, [this] { Beat(); });
}

}  // namespace taas::dashboard
