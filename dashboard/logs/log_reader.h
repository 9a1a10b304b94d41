// The log of one pod, first bit by bit as its reader asks for it, then as it is written.
//
// What is there already is read in windows: each is one request of so many bytes "since the second
// of the last line", of which SeenLines leaves out what has come before. So a reader that does not
// ask costs nothing, however long the log is. A window that brings nothing new, since one second
// has more lines than it holds, is asked for again and larger.
//
//   kIdle ──Fetch──► kFetching ──► kIdle      there is more
//                              ──► kAtEnd ──Follow──► kFollowing ──Rest──► kIdle
//                              ──► kDone      nothing will come any more
//
// Ownership: transport and executor outlive it. Threads: the executor's only; `calls` come from
// callbacks of the transport, in which the reader must not be destroyed or asked for anything.
// Errors: an entry with LogNote::kError says what was attempted and why it failed; a server that
// does not answer is asked again. What throws is said by `failed`, after which no more comes.
//
//   LogReader reader(transport, executor, pod, {.token = token}, {.entry = …, .changed = …});
//   reader.Fetch();

#ifndef DASHBOARD_LOGS_LOG_READER_H_
#define DASHBOARD_LOGS_LOG_READER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "dashboard/logs/log_merge.h"
#include "dashboard/logs/log_pod.h"
#include "dashboard/logs/log_splitter.h"
#include "operator/base/executor.h"
#include "operator/kube/log_line.h"
#include "operator/kube/transport.h"

namespace taas::dashboard {

class LogReader {
 public:
  // Beyond this a window grows no more; what else was written within that second is left out, and
  // a note says so. Of a window only what is new is kept.
  static constexpr size_t kWindowBytesMax = 64 << 20;
  // A kubelet sends "slightly more or slightly less" than the bytes that were asked for.
  static constexpr size_t kWindowSlack = 1 << 10;
  // Without a byte.
  static constexpr std::chrono::seconds kWindowSilence{30};
  // A trainer may be silent for long; a log that is followed again costs one request.
  static constexpr std::chrono::hours kFollowSilence{1};
  // Before a log is asked for again; each failure in a row doubles it.
  static constexpr std::chrono::seconds kAgain{1};
  static constexpr std::chrono::seconds kAgainMax{16};
  // Requests in a row after which what was asked for is given up, or a pod's end is its log's.
  static constexpr int kFailuresMax = 5;
  // A node that is lost never ends the stream of a pod that was deleted from it.
  static constexpr std::chrono::seconds kGoneMax{10};
  // Of the body of a refusal.
  static constexpr size_t kErrorBytesMax = 16 << 10;

  struct Options {
    std::string token;       // With which everything is read.
    bool previous = false;   // The container before the present one.
    bool follow = false;
    int64_t tail = 0;        // Of what there is, the last so many lines; 0: all.
    std::string since;       // As LogLine::time; empty: from the beginning.
    size_t window_bytes = 1 << 20;
    size_t window_bytes_max = kWindowBytesMax;
  };
  struct Calls {
    std::function<void(LogEntry)> entry;
    std::function<void()> changed;  // The state.
    std::function<void()> failed = nullptr;
  };
  enum class State { kIdle, kFetching, kAtEnd, kFollowing, kDone };

  LogReader(KubeTransport& transport, Executor& executor, LogPod pod, Options options,
            Calls calls);
  ~LogReader();

  void Fetch();   // In kIdle.
  void Follow();  // In kIdle or kAtEnd.
  // Ends following; where it was is known.
  void Rest();
  // What has become of the pod.
  void SetPod(LogPod pod) { pod_ = std::move(pod); }
  void SetGone();

  State state() const { return state_; }
  const LogPod& pod() const { return pod_; }
  // The API server does not know the caller any more.
  bool unauthenticated() const { return code_ == 401; }

 private:
  void Open();
  void Try(const std::function<void()>& run);
  HttpRequest Request() const;
  void OnOpened(int code);
  void OnData(std::string_view chunk);
  void TakeLine(const LogSplitter::Line& line);
  void TakeRest();
  void OnEnded(const absl::Status& status);
  void OnWindow(bool cut);
  void OnFollowed();
  bool Grow();
  void Fail(const absl::Status& why);
  void Refused();
  void Again(Clock::Duration delay);
  void Finish();
  void Become(State state);
  void Note(LogNote note, std::string message);
  bool ended() const { return gone_ || pod_.state == LogPod::State::kEnded; }
  std::string What() const { return "read the log of pod " + pod_.ns + "/" + pod_.name; }

  KubeTransport& transport_;
  Executor& executor_;
  LogPod pod_;
  const Options options_;
  const Calls calls_;
  State state_ = State::kIdle;
  bool gone_ = false;
  bool begun_ = false;
  bool failing_ = false;  // A note has said that it cannot be followed now.
  int failures_ = 0;      // In a row.
  SeenLines seen_;
  std::string order_;  // Of the last line.
  std::string skip_to_;  // The second to read from, where one was too large; empty: as seen_ says.

  // Of the present request.
  std::unique_ptr<KubeTransport::StreamHandle> stream_;
  Executor::TimerId timer_ = 0;
  Executor::TimerId gone_timer_ = 0;
  int code_ = 0;
  bool ended_at_open_ = false;
  bool full_ = false;  // The window has brought enough.
  bool threw_ = false;
  // A line without a time is as new as the one before it.
  bool untimed_is_new_ = true;
  std::string error_body_;
  LogSplitter splitter_;
  size_t limit_ = 0;
  size_t bytes_ = 0, new_bytes_ = 0, new_lines_ = 0;

  std::string second_;       // Of the last line.
  size_t second_bytes_ = 0;  // What the next window brings again.
  size_t grown_ = 0;         // By which windows are larger, since one was too small.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_LOGS_LOG_READER_H_
