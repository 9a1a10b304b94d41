#include "operator/kube/log_line.h"

#include <algorithm>

#include "operator/base/clock.h"

namespace taas {
namespace {

constexpr size_t kSecondSize = 19;  // "2026-11-21T05:54:17"
constexpr size_t kFractionSize = 9;
constexpr size_t kTimeSizeMax = kSecondSize + 1 + kFractionSize + 6;  // With "+08:00".

// The whole seconds of `time`. Container runtimes write the time of their node's zone.
bool ToUtc(std::string_view time, std::string_view zone, std::string* out) {
  out->assign(time.substr(0, kSecondSize));
  if (zone == "Z") return true;
  Clock::WallTime wall;
  if (!ParseRfc3339(*out + std::string(zone), &wall)) return false;
  *out = FormatRfc3339(wall).substr(0, kSecondSize);
  return true;
}

// "2026-11-21T05:54:17…" as 20261121055417.
int64_t NumberOf(std::string_view time) {
  int64_t number = 0;
  for (const char c : time.substr(0, kSecondSize)) {
    if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
  }
  return number;
}

}  // namespace

LogLine ParseLogLine(std::string_view line) {
  const std::string_view time = line.substr(0, line.find(' '));
  const bool is_time = time.size() > kSecondSize && time[4] == '-' && time[10] == 'T' &&
                       time[13] == ':' && time.size() <= kTimeSizeMax;
  LogLine out;
  std::string_view rest = is_time ? time.substr(kSecondSize) : "";
  const size_t zone = rest.find_first_of("Z+-");
  if (zone == std::string_view::npos || !ToUtc(time, rest.substr(zone), &out.time)) {
    return {.time = "", .text = std::string(line)};
  }
  std::string fraction(rest.substr(0, zone));
  if (fraction.empty()) fraction.assign(1, '.');
  fraction.resize(1 + kFractionSize, '0');
  out.time += fraction;
  out.text = std::string(line.substr(std::min(line.size(), time.size() + 1)));
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

void SeenLines::Restart() {
  if (seconds_.empty()) return;
  again_ = true;
  left_ = same_again_ = 0;
  const int64_t since = seconds_.back().second;
  set_back_ = NumberOf(newest_) > since;
  for (const Second& second : seconds_) left_ += second.second >= since ? second.lines : 0;
}

bool SeenLines::CameBefore(const LogLine& line) {
  if (!again_ || (set_back_ && left_ == 0) || line.time > newest_) return false;
  if (line.time == newest_ && ++same_again_ > same_) return false;
  --left_;
  return true;
}

bool SeenLines::IsNew(const LogLine& line) {
  if (line.time.empty()) return true;
  if (CameBefore(line)) return false;
  again_ = false;
  if (line.time > newest_) {
    newest_ = line.time;
    same_ = 0;
  }
  if (line.time == newest_) ++same_;
  if (last_second_.empty() || line.time.compare(0, kSecondSize, last_second_) != 0) {
    last_second_ = line.time.substr(0, kSecondSize);
    seconds_.push_back({.second = NumberOf(last_second_)});
    if (seconds_.size() > kSecondsMax) seconds_.pop_front();
  }
  ++seconds_.back().lines;
  return true;
}

std::string SeenLines::SinceTime() const {
  return last_second_.empty() ? "" : last_second_ + "Z";
}

}  // namespace taas
