#include "operator/kube/line_splitter.h"

namespace taas {

absl::Status LineSplitter::Add(std::string_view chunk, const OnLine& on_line) {
  const auto too_long = [this] {
    return absl::ResourceExhaustedError("a line of the reply is longer than " +
                                        std::to_string(line_bytes_max_) + " bytes");
  };
  while (!chunk.empty()) {
    const size_t end = chunk.find('\n');
    if (end == std::string_view::npos) {
      if (rest_.size() + chunk.size() > line_bytes_max_) return too_long();
      rest_ += chunk;
      return absl::OkStatus();
    }
    if (rest_.size() + end > line_bytes_max_) return too_long();
    std::string_view line = chunk.substr(0, end);
    std::string joined;
    if (!rest_.empty()) {
      joined.swap(rest_);
      joined += line;
      line = joined;
    }
    chunk.remove_prefix(end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) continue;
    if (absl::Status status = on_line(line); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace taas
