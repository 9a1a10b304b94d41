#include "dashboard/logs/log_reader.h"

#include <algorithm>
#include <utility>

#include "dashboard/server/catching_executor.h"
#include "operator/base/check.h"
#include "operator/base/status.h"
#include "operator/kube/api_error.h"
#include "operator/kube/api_path.h"

namespace taas::dashboard {
namespace {

constexpr size_t kSecondSize = 19;  // "2026-11-21T05:54:17"

bool IsTransient(int code) { return code == 408 || code == 429 || code >= 500; }

// The second after that of `time`, for sinceTime.
std::string NextSecond(const std::string& time) {
  Clock::WallTime wall;
  if (!ParseRfc3339(time.substr(0, kSecondSize) + "Z", &wall)) return "";
  return FormatRfc3339(wall + std::chrono::seconds(1));
}

std::string SinceOf(const std::string& time) {
  return time.empty() ? "" : time.substr(0, kSecondSize) + "Z";
}

}  // namespace

LogReader::LogReader(KubeTransport& transport, Executor& executor, LogPod pod, Options options,
                     Calls calls)
    : transport_(transport),
      executor_(executor),
      pod_(std::move(pod)),
      options_(std::move(options)),
      calls_(std::move(calls)) {}

LogReader::~LogReader() {
  for (const Executor::TimerId timer : {timer_, gone_timer_}) {
    if (timer != 0) executor_.Cancel(timer);
  }
}

void LogReader::SetGone() {
  if (std::exchange(gone_, true)) return;
  gone_timer_ = executor_.PostAfter(kGoneMax, [this] {
    gone_timer_ = 0;
    if (state_ != State::kFollowing) return;
    Rest();
    TakeRest();
    Finish();
  });
}

void LogReader::Fetch() {
  CHECK(state_ == State::kIdle);
  state_ = State::kFetching;
  Open();
}

void LogReader::Follow() {
  CHECK(state_ == State::kIdle || state_ == State::kAtEnd);
  state_ = State::kFollowing;
  failures_ = 0;
  Open();
}

void LogReader::Rest() {
  if (state_ != State::kFollowing) return;
  stream_.reset();
  if (timer_ != 0) executor_.Cancel(std::exchange(timer_, 0));
  state_ = State::kIdle;
}

HttpRequest LogReader::Request() const {
  const bool following = state_ == State::kFollowing;
  std::string since = std::max(seen_.SinceTime(), skip_to_);
  const bool first = since.empty();
  if (first) since = SinceOf(options_.since);
  const bool tail = first && !following && options_.tail > 0;
  HttpRequest request;
  request.path =
      WithQuery(SubresourcePath(Resource::kPods, pod_.ns, pod_.name, "log"),
                {{"container", pod_.container},
                 {"timestamps", "true"},
                 {"previous", options_.previous ? "true" : ""},
                 {"follow", following ? "true" : ""},
                 {"sinceTime", since},
                 {"tailLines", tail ? std::to_string(options_.tail) : ""},
                 {"limitBytes", following ? "" : std::to_string(limit_)}});
  request.accept = "*/*";
  request.bearer_token = options_.token;
  request.timeout = following ? std::chrono::milliseconds(kFollowSilence) : kWindowSilence;
  return request;
}

void LogReader::Open() {
  code_ = 0;
  ended_at_open_ = ended();
  full_ = false;
  untimed_is_new_ = !begun_;
  error_body_.clear();
  splitter_.Clear();
  seen_.Restart();
  limit_ = std::min(options_.window_bytes + second_bytes_ + grown_, options_.window_bytes_max);
  bytes_ = new_bytes_ = new_lines_ = 0;
  second_.clear();
  second_bytes_ = 0;
  stream_ = transport_.Stream(Request(),
                              {.opened = [this](int code) { Try([&] { OnOpened(code); }); },
                               .data =
                                   [this](std::string_view chunk) {
                                     Try([&] { OnData(chunk); });
                                   },
                               .ended =
                                   [this](const absl::Status& status) {
                                     Try([&] { OnEnded(status); });
                                   }});
}

// Only its owner can say what is to become of the others.
void LogReader::Try(const std::function<void()>& run) {
  if (threw_ || RunCaught(What(), run)) return;
  threw_ = true;
  if (calls_.failed) calls_.failed();
}

void LogReader::OnOpened(int code) {
  code_ = code;
  if (code != 200) return;
  if (!begun_ || failing_) Note(LogNote::kBegin, "");
  begun_ = true;
  failing_ = false;
}

void LogReader::OnData(std::string_view chunk) {
  if (full_) return;
  if (code_ != 200) {
    error_body_.append(chunk.substr(0, kErrorBytesMax - error_body_.size()));
    return;
  }
  bytes_ += chunk.size();
  splitter_.Add(chunk, [this](const LogSplitter::Line& line) { TakeLine(line); });
  if (state_ != State::kFetching || new_bytes_ < 2 * options_.window_bytes) return;
  // The stream is given up from a task of its own: this is a call of it.
  full_ = true;
  executor_.Post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.lock() == nullptr || !full_) return;
    stream_.reset();
    OnWindow(/*cut=*/true);
  });
}

void LogReader::TakeLine(const LogSplitter::Line& raw) {
  LogLine line = ParseLogLine(raw.text);
  const bool timed = !line.time.empty();
  if (timed && line.time.compare(0, kSecondSize, second_) != 0) {
    second_ = line.time.substr(0, kSecondSize);
    second_bytes_ = 0;
  }
  second_bytes_ += raw.bytes();
  if (timed) untimed_is_new_ = seen_.IsNew(line);
  if (!untimed_is_new_) return;
  failures_ = 0;
  new_lines_ += timed ? 1 : 0;
  new_bytes_ += raw.text.size();
  if (!options_.since.empty() && !line.time.empty() && line.time < options_.since) return;
  line.text += raw.Mark();
  order_ = std::max(order_, line.time);
  calls_.entry({.order = order_, .line = std::move(line)});
}

void LogReader::TakeRest() {
  if (const auto rest = splitter_.rest(); rest.has_value()) TakeLine(*rest);
  splitter_.Clear();
}

void LogReader::OnEnded(const absl::Status& status) {
  if (full_) return;
  if (!status.ok()) return Fail(Annotate(status, What()));
  if (code_ != 200) return Refused();
  state_ == State::kFetching ? OnWindow(bytes_ + kWindowSlack >= limit_) : OnFollowed();
}

void LogReader::OnWindow(bool cut) {
  full_ = false;
  failures_ = 0;
  if (cut) {
    if (new_lines_ > 0) grown_ = 0;
    const bool goes_on = new_lines_ > 0 || Grow();
    return Become(goes_on ? State::kIdle : State::kDone);
  }
  grown_ = 0;
  if (options_.follow && !ended_at_open_) return Become(State::kAtEnd);
  TakeRest();
  ended_at_open_ && !options_.previous ? Finish() : Become(State::kDone);
}

// False: there is no way on.
bool LogReader::Grow() {
  if (limit_ < options_.window_bytes_max) {
    grown_ = std::max(2 * grown_, options_.window_bytes);
    return true;
  }
  grown_ = second_bytes_ = 0;
  const auto rest = splitter_.rest();
  std::string last = rest.has_value() ? ParseLogLine(rest->text).time : "";
  if (last.empty()) last = seen_.SinceTime();
  TakeRest();
  skip_to_ = NextSecond(last);
  const std::string size = What() + ": more than " + std::to_string(limit_) + " bytes ";
  if (skip_to_.empty()) {
    Note(LogNote::kError, size + "have no time; what follows cannot be found, use kubectl logs");
    return false;
  }
  Note(LogNote::kError, size + "were written within one second, " + SinceOf(last) +
                            "; the rest of that second is left out, read it with kubectl logs");
  return true;
}

void LogReader::OnFollowed() {
  // What was written between its last line and the news of its end is read once more.
  if (!ended_at_open_) return Again(kAgain);
  TakeRest();
  Finish();
}

void LogReader::Refused() {
  const ApiError error = ParseApiError(error_body_, code_);
  const absl::Status status = StatusOfApiError(error, What());
  if (IsTransient(code_)) return Fail(status);
  if (code_ == 404 && gone_) return Finish();
  // A container that starts again has no log for a moment, and a pod may be gone before we hear it.
  if (options_.follow && (code_ == 400 || code_ == 404)) return Fail(status);
  Note(LogNote::kError, std::string(status.message()));
  Become(State::kDone);
}

void LogReader::Fail(const absl::Status& why) {
  ++failures_;
  const bool enough = failures_ >= kFailuresMax;
  const std::string message(why.message());
  if (state_ == State::kFetching && enough) {
    Note(LogNote::kError, message);
    failing_ = options_.follow;
    return Become(options_.follow ? State::kAtEnd : State::kDone);
  }
  if (state_ == State::kFollowing && ended() && enough) {
    Note(LogNote::kError, message + "; it has ended, and what it wrote last is missing here");
    return Become(State::kDone);
  }
  const bool may_pass = code_ == 400 || code_ == 404;
  if (state_ == State::kFollowing && !failing_ && (enough || !may_pass)) {
    failing_ = true;
    Note(LogNote::kError, message + "; it is asked for again");
  }
  Again(std::min<Clock::Duration>(kAgain * (1 << std::min(failures_ - 1, 4)), kAgainMax));
}

void LogReader::Again(Clock::Duration delay) {
  timer_ = executor_.PostAfter(delay, [this] {
    timer_ = 0;
    Open();
  });
}

void LogReader::Finish() {
  const bool ended = pod_.state == LogPod::State::kEnded;
  Note(LogNote::kEnd, ended ? pod_.message : "the pod was deleted");
  Become(State::kDone);
}

void LogReader::Become(State state) {
  state_ = state;
  calls_.changed();
}

void LogReader::Note(LogNote note, std::string message) {
  calls_.entry({.order = order_, .line = {.text = std::move(message)}, .note = note});
}

}  // namespace taas::dashboard
