// One answer to "show me the logs of this job": the lines of all its replicas in one order, and
// then what is written.
//
// It reads only as fast as its client takes. Of what was written before, each reader asks for its
// next window when what it has is about to be used up, and nothing is used up while kUnsentMax
// bytes wait for the client. A client that cannot keep up with what is being written is taken back
// to reading in windows, in which nothing is lost and nothing piles up.
//
// Ownership: what is given at construction outlives it. Threads: the executor's only. Errors: go to
// the client as notes; what throws in it ends it with one.
//
//   LogStream stream({.executor = executor, .callers = callers, .pods = pods}, options);
//   stream.Open(sink);

#ifndef DASHBOARD_LOGS_LOG_STREAM_H_
#define DASHBOARD_LOGS_LOG_STREAM_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dashboard/logs/log_merge.h"
#include "dashboard/logs/log_pod.h"
#include "dashboard/logs/log_reader.h"
#include "dashboard/logs/log_text.h"
#include "dashboard/http/web_message.h"
#include "dashboard/server/catching_executor.h"
#include "operator/base/executor.h"
#include "operator/kube/transport.h"

namespace taas::dashboard {

// The pods that there are now.
struct LogPods {
  std::vector<LogPod> pods;
  bool over = false;  // The job has ended or is gone: no more will come.
};

class LogStream {
 public:
  // Each is a request that stays open at the API server while it is followed.
  static constexpr size_t kPodsMax = 256;
  // Requests for windows under way.
  static constexpr size_t kWindowsAtOnce = 8;
  // Of all windows together, and of each: with few replicas fewer and larger requests, since a node
  // reads its file from the start for each.
  static constexpr size_t kWindowsBytes = 16 << 20;
  static constexpr size_t kWindowBytesMax = 4 << 20;
  static constexpr size_t kWindowBytesMin = 64 << 10;
  // That the client has not taken: some time of a fast connection, little memory.
  static constexpr size_t kUnsentMax = 1 << 20;
  // Then it is looked at again; the sink does not say when it has been read.
  static constexpr std::chrono::milliseconds kDrainCheck{20};
  // Of what is followed and held to be put in order; beyond it lines come as they are.
  static constexpr size_t kHeldBytesMax = 2 << 20;
  // In one go; others want the thread too.
  static constexpr size_t kSliceBytes = 256 << 10;
  // What is sent at once.
  static constexpr size_t kChunkBytes = 64 << 10;
  // Proxies close what is silent for a minute.
  static constexpr std::chrono::seconds kHeartbeat{15};

  struct Context {
    Executor& executor;
    KubeTransport& callers;  // Without credentials of its own.
    std::function<LogPods()> pods;
  };
  struct Options {
    std::string token;
    // "worker-1", or "worker" for all of a role; empty: all.
    std::set<std::string, std::less<>> replicas;
    int64_t tail = 0;
    std::string since;  // As LogLine::time.
    bool previous = false;
    bool follow = false;
    bool plain = false;  // Text instead of NDJSON.
    size_t window_bytes = kWindowBytesMax;  // No more than this of each pod,
    size_t windows_bytes = kWindowsBytes;   // and of all of them.
  };

  LogStream(const Context& context, Options options);
  ~LogStream();

  void Open(std::shared_ptr<StreamSink> sink);
  // The job's pods may have changed.
  void OnChange();
  // Says why, if there is a why, and ends.
  void End(const std::string& why);
  // What is kept of logs.
  size_t bytes() const { return merge_.bytes() + sorter_.bytes() + out_.size(); }

 private:
  void Begin();
  void Try(const std::function<void()>& run);
  void Fail();
  void FailLater();
  bool Wants(const LogPod& pod) const;
  void AddReader(const LogPod& pod);
  void OnEntry(LogEntry entry);
  void TellAbsent(const LogPods& now);
  void LookAt(const LogPods& now, bool take_new);
  void Wake();
  void Pump();
  bool Room();
  std::optional<LogEntry> Next();
  void Append(const LogEntry& entry);
  void Write(const LogRecord& record);
  // A note of ours; of a pod without a name: about all of them.
  void Say(const LogPod& pod, const std::string& message);
  void Flush();
  void CloseThoseAtEnd();
  void AskForWindows();
  void OnDrained();
  void BeginFollow();
  void PauseFollow();
  void EndIfOver();
  void Beat();

  const Context context_;
  CatchingExecutor executor_;  // Whose tasks end this stream where they throw.
  const Options options_;
  std::shared_ptr<StreamSink> sink_;
  std::vector<std::unique_ptr<LogReader>> readers_;  // By source.
  std::map<std::string, size_t> sources_;            // By uid of the pod.
  size_t window_bytes_ = kWindowBytesMax;
  bool too_many_ = false;  // It was said.
  bool live_ = false;      // Likewise.
  bool following_ = false;
  bool over_ = false;
  LogMerge merge_;
  LogSorter sorter_;
  std::string out_;
  bool silent_ = false;  // Nothing was sent since the last beat.
  Executor::TimerId wake_timer_ = 0, beat_timer_ = 0;
  bool woken_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_LOGS_LOG_STREAM_H_
