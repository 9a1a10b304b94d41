// Records of a container's log as the lines that `kubectl logs` asked for.
//
// Ownership: value. Threads: one at a time. Errors: none; a record that is not CRI's is passed on
// as it is.
//
//   LogFilter filter({.timestamps = true, .tail = 10});
//   filter.Push(records);
//   filter.EndOfBacklog();
//   out += filter.Take();  // The last 10 lines; from here on each line as it comes.

#ifndef LOCALKUBE_API_LOG_FILTER_H_
#define LOCALKUBE_API_LOG_FILTER_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "operator/base/clock.h"

namespace taas::localkube {

class LogFilter {
 public:
  struct Options {
    bool timestamps = false;
    std::optional<uint64_t> tail;  // Lines of the backlog.
    std::optional<Clock::WallTime> since;
    std::optional<uint64_t> limit_bytes;
  };
  explicit LogFilter(Options options) : options_(std::move(options)) {}

  // Whole records.
  void Push(std::string_view records);
  // Ends the time in which only the last `tail` lines count.
  void EndOfBacklog();
  // What is ready to be sent.
  std::string Take();
  // The byte limit is reached: nothing more will come.
  bool full() const { return options_.limit_bytes.has_value() && *options_.limit_bytes == 0; }

 private:
  void PushRecord(std::string_view record);
  void Emit(std::string line);

  Options options_;
  bool backlog_ = true;
  std::string part_;  // Of a line that goes on in the next record.
  std::deque<std::string> last_;
  std::string ready_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_LOG_FILTER_H_
