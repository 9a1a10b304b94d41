// Lines of pod logs with their times, and several pods' lines in one order.
//
// Ownership: values. Threads: any. Errors: none; a line without a time takes that of the line
// before it.
//
//   const LogLine line = ParseLogLine("2026-11-21T05:54:17.25Z step 10");   // Of ?timestamps=true.

#ifndef OPERATOR_KUBE_LOG_LINE_H_
#define OPERATOR_KUBE_LOG_LINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace taas {

struct LogLine {
  // In UTC, "2026-11-21T05:54:17.250000000", so that text order is time order; or empty.
  std::string time;
  std::string text;
};

LogLine ParseLogLine(std::string_view line);

struct ReplicaLog {
  std::string replica;  // "worker-0"
  std::string text;     // As the API server sent it, with timestamps.
};

struct MergedLine {
  std::string replica;
  LogLine line;
};
// By time; lines of one replica keep their order.
std::vector<MergedLine> MergeLogs(const std::vector<ReplicaLog>& logs);

// Passes each line once although the log is read again from some point, as after a lost connection
// or where it is read bit by bit. The API knows only "since the second S", so what comes again is
// told by time; where the clock was set back between, also by number.
//
// A clock that is set back while nobody reads hides what is written until it is where it was: the
// API has no other way to say from where to read.
class SeenLines {
 public:
  // Seconds with lines that are kept for a clock that is set back; beyond that lines come twice.
  static constexpr size_t kSecondsMax = 600;

  // The log is read again, from SinceTime on.
  void Restart();
  // False: this line has been passed before.
  bool IsNew(const LogLine& line);
  // The second of the last line, for sinceTime; empty: none yet.
  std::string SinceTime() const;

 private:
  // Lines passed one after the other within one second.
  struct Second {
    int64_t second = 0;  // 20261121055417
    int64_t lines = 0;
  };
  bool CameBefore(const LogLine& line);

  std::deque<Second> seconds_;  // In the order of the log.
  std::string last_second_;     // Of the last line, "2026-11-21T05:54:17".
  std::string newest_;          // The greatest time passed.
  int64_t same_ = 0;            // Lines passed with the time `newest_`.
  bool again_ = false;          // What comes may have come before.
  bool set_back_ = false;       // The clock was, within what comes again.
  int64_t left_ = 0;            // Lines that come again, at most.
  int64_t same_again_ = 0;      // Of those with the time `newest_`, how many came since Restart.
};

}  // namespace taas

#endif  // OPERATOR_KUBE_LOG_LINE_H_
