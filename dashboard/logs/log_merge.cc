#include "dashboard/logs/log_merge.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"

namespace taas::dashboard {

size_t LogMerge::Add() {
  sources_.emplace_back();
  ++awaited_;
  return sources_.size() - 1;
}

void LogMerge::Push(LogEntry entry) {
  Source& source = sources_[entry.source];
  const size_t bytes = entry.bytes();
  source.bytes += bytes;
  bytes_ += bytes;
  if (source.entries.empty()) {
    if (source.open) --awaited_;
    heads_.push({.order = entry.order, .source = entry.source});
  }
  source.entries.push_back(std::move(entry));
}

void LogMerge::Close(size_t index) {
  Source& source = sources_[index];
  if (!std::exchange(source.open, false)) return;
  if (source.entries.empty()) --awaited_;
}

void LogMerge::Open(size_t index) {
  Source& source = sources_[index];
  if (std::exchange(source.open, true)) return;
  if (source.entries.empty()) ++awaited_;
}

std::optional<LogEntry> LogMerge::Next() {
  if (heads_.empty()) return std::nullopt;
  const bool at_once = heads_.top().order.empty();
  if (awaited_ > 0 && !at_once) return std::nullopt;
  const size_t index = heads_.top().source;
  heads_.pop();
  Source& source = sources_[index];
  CHECK(!source.entries.empty());
  LogEntry entry = std::move(source.entries.front());
  source.entries.pop_front();
  source.bytes -= entry.bytes();
  bytes_ -= entry.bytes();
  if (!source.entries.empty()) {
    heads_.push({.order = source.entries.front().order, .source = index});
  } else if (source.open) {
    ++awaited_;
  }
  return entry;
}

void LogSorter::Push(LogEntry entry, Clock::Time now) {
  const uint64_t number = ++last_number_;
  arrivals_.push_back({.at = now, .order = entry.order, .number = number});
  bytes_ += entry.bytes();
  held_.push_back({.number = number, .entry = std::move(entry)});
  std::push_heap(held_.begin(), held_.end(), Later());
}

std::optional<LogEntry> LogSorter::Next(Clock::Time now) {
  const auto is_out = [this](const Arrival& arrival) {
    if (held_.empty()) return true;
    const Held& top = held_.front();
    return std::tie(arrival.order, arrival.number) < std::tie(top.entry.order, top.number);
  };
  // All before one that has been held for long enough comes with it.
  while (!arrivals_.empty() && is_out(arrivals_.front())) arrivals_.pop_front();
  if (arrivals_.empty() || arrivals_.front().at + kHold > now) return std::nullopt;
  std::pop_heap(held_.begin(), held_.end(), Later());
  LogEntry entry = std::move(held_.back().entry);
  held_.pop_back();
  bytes_ -= entry.bytes();
  return entry;
}

std::optional<Clock::Time> LogSorter::due() const {
  if (arrivals_.empty() || held_.empty()) return std::nullopt;
  return arrivals_.front().at + kHold;
}

}  // namespace taas::dashboard
