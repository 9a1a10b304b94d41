// Cuts a stream of chunks into lines.
//
// Ownership: keeps at most one unfinished line. Threads: one at a time. Errors: ResourceExhausted
// once a line is longer than the limit; the splitter is of no use afterwards.
//
//   LineSplitter lines;
//   RETURN_IF_ERROR(lines.Add(chunk, [&](std::string_view line) { return Handle(line); }));

#ifndef OPERATOR_KUBE_LINE_SPLITTER_H_
#define OPERATOR_KUBE_LINE_SPLITTER_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace taas {

class LineSplitter {
 public:
  // etcd takes no object above 1.5 MiB; JSON may be a few times as long as what is stored.
  static constexpr size_t kLineBytesMax = 8 << 20;

  explicit LineSplitter(size_t line_bytes_max = kLineBytesMax) : line_bytes_max_(line_bytes_max) {}

  // Calls `on_line` for each finished line, without its line end and without blank lines. An error
  // of `on_line` ends the chunk and is returned.
  using OnLine = std::function<absl::Status(std::string_view line)>;
  absl::Status Add(std::string_view chunk, const OnLine& on_line);

  // What came after the last line end.
  const std::string& rest() const { return rest_; }
  void Clear() { rest_.clear(); }

 private:
  const size_t line_bytes_max_;
  std::string rest_;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_LINE_SPLITTER_H_
