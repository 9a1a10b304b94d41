// Lines of several logs in one order: of logs that are read bit by bit, and of logs that are
// followed.
//
// Pure. Ownership: values. Threads: one. Errors: none.
//
//   const size_t worker = merge.Add();
//   merge.Push({.source = worker, .order = line.time, .line = line});
//   while (auto entry = merge.Next()) Write(*entry);

#ifndef DASHBOARD_LOGS_LOG_MERGE_H_
#define DASHBOARD_LOGS_LOG_MERGE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

#include "operator/base/clock.h"
#include "operator/kube/log_line.h"

namespace taas::dashboard {

enum class LogNote {
  kNone,
  kBegin,
  kEnd,
  kError,
  kLive,  // Of all replicas: what was written before the stream was opened has come.
};

struct LogEntry {
  size_t source = 0;
  // Never less than that of the entry before it of its source, so that a clock that was set back
  // does not turn the lines of one replica around; empty: comes at once.
  std::string order;
  LogLine line;  // Of a note: its message.
  LogNote note = LogNote::kNone;

  size_t bytes() const {
    return sizeof(LogEntry) + order.size() + line.time.size() + line.text.size();
  }
};

// Of sources that are in order themselves: nothing comes until each has said what is its next.
class LogMerge {
 public:
  // A new source, which is waited for.
  size_t Add();
  void Push(LogEntry entry);
  // It has nothing more for now: nobody waits for it. What it has pushed still comes.
  void Close(size_t source);
  void Open(size_t source);

  // Nothing: a source is waited for, or all have been closed and emptied.
  std::optional<LogEntry> Next();
  // All are closed, and everything has come.
  bool drained() const { return awaited_ == 0 && heads_.empty(); }
  size_t bytes(size_t source) const { return sources_[source].bytes; }
  size_t bytes() const { return bytes_; }

 private:
  struct Source {
    std::deque<LogEntry> entries;
    size_t bytes = 0;
    bool open = true;
  };
  // The first of each source that has something.
  struct Head {
    std::string order;
    size_t source = 0;
    bool operator<(const Head& other) const {  // The greatest is on top of a priority_queue.
      return std::tie(other.order, other.source) < std::tie(order, source);
    }
  };

  std::vector<Source> sources_;
  std::priority_queue<Head> heads_;
  size_t awaited_ = 0;  // Open and without an entry.
  size_t bytes_ = 0;
};

// Of lines that arrive as they are written: each is held for a moment, in which those of others
// that are older may come. A source that is silent holds nobody up.
class LogSorter {
 public:
  // Longer than lines of one instant take to come from different nodes; shorter than a person
  // notices.
  static constexpr std::chrono::milliseconds kHold{250};

  void Push(LogEntry entry, Clock::Time now);
  // Nothing: none has been held for long enough.
  std::optional<LogEntry> Next(Clock::Time now);
  // When Next has something; nothing: it is empty.
  std::optional<Clock::Time> due() const;
  bool empty() const { return held_.empty(); }
  size_t bytes() const { return bytes_; }

 private:
  struct Held {
    uint64_t number = 0;  // Of arrival.
    LogEntry entry;
  };
  struct Later {
    bool operator()(const Held& a, const Held& b) const {
      return std::tie(a.entry.order, a.number) > std::tie(b.entry.order, b.number);
    }
  };
  struct Arrival {
    Clock::Time at;
    std::string order;
    uint64_t number = 0;
  };

  std::vector<Held> held_;  // A heap, the oldest on top.
  std::deque<Arrival> arrivals_;
  uint64_t last_number_ = 0;
  size_t bytes_ = 0;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_LOGS_LOG_MERGE_H_
