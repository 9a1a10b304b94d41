#include "dashboard/logs/log_splitter.h"

#include <algorithm>

#include "operator/base/utf8.h"

namespace taas::dashboard {

std::string LogSplitter::Line::Mark() const {
  return cut == 0 ? "" : " […+" + std::to_string(cut) + " bytes]";
}

void LogSplitter::Clear() {
  rest_.clear();
  cut_ = 0;
}

LogSplitter::Line LogSplitter::Made(std::string_view text, size_t cut) const {
  if (cut == 0 && !text.empty() && text.back() == '\r') text.remove_suffix(1);
  const std::string_view kept = CutToCharacter(text, kLogLineBytesMax);
  return {.text = kept, .cut = cut + text.size() - kept.size()};
}

void LogSplitter::Add(std::string_view chunk, const OnLine& on_line) {
  while (!chunk.empty()) {
    const size_t end = std::min(chunk.find('\n'), chunk.size());
    const std::string_view part = chunk.substr(0, end);
    const bool whole = end < chunk.size();
    if (whole && rest_.empty()) {
      on_line(Made(part, 0));
    } else {
      // One byte more than is kept, so that Made sees where a character ends.
      const size_t room = kLogLineBytesMax + 1 - rest_.size();
      rest_ += part.substr(0, room);
      cut_ += part.size() - std::min(part.size(), room);
      if (whole) {
        on_line(Made(rest_, cut_));
        Clear();
      }
    }
    chunk.remove_prefix(std::min(chunk.size(), end + 1));
  }
}

std::optional<LogSplitter::Line> LogSplitter::rest() const {
  if (rest_.empty()) return std::nullopt;
  return Made(rest_, cut_);
}

}  // namespace taas::dashboard
