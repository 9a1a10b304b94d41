#include "localkube/api/log_filter.h"

#include <algorithm>
#include <utility>

namespace taas::localkube {

void LogFilter::Push(std::string_view records) {
  while (!records.empty()) {
    const size_t end = records.find('\n');
    PushRecord(records.substr(0, end));
    records = end == std::string_view::npos ? "" : records.substr(end + 1);
  }
}

// "TIME STREAM F|P TEXT"
void LogFilter::PushRecord(std::string_view record) {
  const size_t stream = record.find(' ');
  const size_t tag = stream == std::string_view::npos ? stream : record.find(' ', stream + 1);
  Clock::WallTime time;
  if (tag == std::string_view::npos || !ParseRfc3339(record.substr(0, stream), &time)) {
    Emit(std::string(record) + "\n");
    return;
  }
  if (options_.since.has_value() && time < *options_.since) return;
  const size_t text = std::min(record.find(' ', tag + 1), record.size());
  const bool partial = record.substr(tag + 1, text - tag - 1) == "P";
  if (part_.empty() && options_.timestamps) part_ = std::string(record.substr(0, stream)) + " ";
  if (text < record.size()) part_ += record.substr(text + 1);
  if (!partial) Emit(std::exchange(part_, std::string()) + "\n");
}

void LogFilter::Emit(std::string line) {
  if (!backlog_ || !options_.tail.has_value()) {
    ready_ += line;
    return;
  }
  last_.push_back(std::move(line));
  if (last_.size() > *options_.tail) last_.pop_front();
}

void LogFilter::EndOfBacklog() {
  backlog_ = false;
  for (const std::string& line : std::exchange(last_, {})) ready_ += line;
}

std::string LogFilter::Take() {
  std::string out = std::exchange(ready_, std::string());
  if (options_.limit_bytes.has_value()) {
    out.resize(std::min<uint64_t>(out.size(), *options_.limit_bytes));
    *options_.limit_bytes -= out.size();
  }
  return out;
}

}  // namespace taas::localkube
