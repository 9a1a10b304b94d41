// Lines of pod logs with their times, and several pods' lines in one order.
//
// Ownership: values. Threads: any. Errors: none; a line without a time takes that of the line
// before it.
//
//   const LogLine line = ParseLogLine("2026-11-21T05:54:17.25Z step 10");   // Of ?timestamps=true.

#ifndef CLI_LOG_LINE_H_
#define CLI_LOG_LINE_H_

#include <string>
#include <string_view>
#include <vector>

namespace taas {

struct LogLine {
  std::string time;  // "2026-11-21T05:54:17.250000000", so that text order is time order; or empty.
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

// Passes each line once although the log is read again from some point, as after a lost connection.
class SeenLines {
 public:
  // The log is read again.
  void Restart() { again_ = 0; }
  // False: this line has been passed before.
  bool IsNew(const LogLine& line);
  // The second of the last line, for sinceTime; empty: none yet.
  std::string SinceTime() const;

 private:
  std::string last_;
  int same_ = 0;   // Lines passed with the time `last_`.
  int again_ = 0;  // Of those, how many came since Restart.
};

}  // namespace taas

#endif  // CLI_LOG_LINE_H_
