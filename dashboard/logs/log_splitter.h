// Cuts what an API server sends of a log into lines; keeps the beginning of one that is too long.
//
// Ownership: keeps at most one line of kLineBytesMax. Threads: one. Errors: none.
//
//   splitter.Add(chunk, [&](LogSplitter::Line line) { … });
//   if (auto rest = splitter.rest()) …  // What came after the last line end.

#ifndef DASHBOARD_LOGS_LOG_SPLITTER_H_
#define DASHBOARD_LOGS_LOG_SPLITTER_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace taas::dashboard {

// More of one line no person reads in a browser; it is there whole with kubectl.
inline constexpr size_t kLogLineBytesMax = 32 << 10;

class LogSplitter {
 public:
  struct Line {
    std::string_view text;  // Without its end.
    size_t cut = 0;         // Bytes of it that are left out.
    size_t bytes() const { return text.size() + cut + 1; }
    // What stands in place of what is left out; empty: nothing is.
    std::string Mark() const;
  };
  using OnLine = std::function<void(Line line)>;

  void Add(std::string_view chunk, const OnLine& on_line);
  std::optional<Line> rest() const;
  void Clear();

 private:
  Line Made(std::string_view text, size_t cut) const;

  std::string rest_;
  size_t cut_ = 0;  // Of the line in rest_.
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_LOGS_LOG_SPLITTER_H_
