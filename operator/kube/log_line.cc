#include "cli/log_line.h"

#include <algorithm>

namespace taas {
namespace {

constexpr size_t kSecondSize = 19;  // "2026-11-21T05:54:17"
constexpr size_t kFractionSize = 9;

}  // namespace

LogLine ParseLogLine(std::string_view line) {
  const std::string_view time = line.substr(0, line.find(' '));
  const bool is_time = time.size() > kSecondSize && time[4] == '-' && time[10] == 'T' &&
                       time[13] == ':' && time.back() == 'Z' &&
                       time.size() <= kSecondSize + 1 + kFractionSize + 1;
  if (!is_time) return {.time = "", .text = std::string(line)};
  LogLine out{.time = std::string(time.substr(0, kSecondSize)),
              .text = std::string(line.substr(std::min(line.size(), time.size() + 1)))};
  std::string fraction(time.substr(kSecondSize, time.size() - kSecondSize - 1));
  if (fraction.empty()) fraction.assign(1, '.');
  fraction.resize(1 + kFractionSize, '0');
  out.time += fraction;
  return out;
}

std::vector<MergedLine> MergeLogs(const std::vector<ReplicaLog>& logs) {
  std::vector<MergedLine> merged;
  for (const ReplicaLog& log : logs) {
    std::string last;
    std::string_view rest = log.text;
    while (!rest.empty()) {
      const size_t end = rest.find('\n');
      LogLine line = ParseLogLine(rest.substr(0, end));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      // A clock that jumped back must not turn the lines of one replica around.
      if (line.time < last) line.time = last;
      last = line.time;
      merged.push_back({log.replica, std::move(line)});
    }
  }
  std::stable_sort(merged.begin(), merged.end(), [](const MergedLine& a, const MergedLine& b) {
    return a.line.time < b.line.time;
  });
  return merged;
}

bool SeenLines::IsNew(const LogLine& line) {
  if (line.time.empty()) return true;
  if (line.time < last_) return false;
  if (line.time > last_) {
    last_ = line.time;
    same_ = again_ = 1;
    return true;
  }
  if (++again_ <= same_) return false;
  same_ = again_;
  return true;
}

std::string SeenLines::SinceTime() const {
  return last_.empty() ? "" : last_.substr(0, kSecondSize) + "Z";
}

}  // namespace taas
