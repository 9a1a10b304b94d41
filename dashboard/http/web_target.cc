#include "dashboard/http/web_target.h"

#include "operator/base/status.h"

namespace taas::dashboard {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Names of charts have slashes in them, and nothing but the page itself reads such a path.
constexpr std::string_view kEmbed = "embed";

bool IsPlace(const std::string& segment, bool slashes) {
  const std::string_view never = slashes ? std::string_view("\\\0", 2)
                                         : std::string_view("/\\\0", 3);
  return !segment.empty() && segment != "." && segment != ".." &&
         segment.find_first_of(never) == std::string::npos &&
         (!slashes || segment.find("..") == std::string::npos);
}

absl::Status AddQuery(std::string_view text, WebTarget* target) {
  while (!text.empty()) {
    const size_t end = text.find('&');
    const std::string_view pair = text.substr(0, end);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    if (pair.empty()) continue;
    if (target->query.size() == kQueryPairsMax) {
      return absl::InvalidArgumentError("the query has too many parts");
    }
    const size_t equals = pair.find('=');
    ASSIGN_OR_RETURN(std::string name, PercentDecode(pair.substr(0, equals), true));
    std::string value;
    if (equals != std::string_view::npos) {
      ASSIGN_OR_RETURN(value, PercentDecode(pair.substr(equals + 1), true));
    }
    target->query.emplace_back(std::move(name), std::move(value));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> PercentDecode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const bool whole = i + 2 < text.size();
      const int high = whole ? HexDigit(text[i + 1]) : -1;
      const int low = whole ? HexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return absl::InvalidArgumentError("a % without two digits");
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

absl::StatusOr<WebTarget> ParseWebTarget(std::string_view target, std::string_view base_path) {
  if (target.empty() || target[0] != '/') {
    return absl::InvalidArgumentError("the target does not begin with a slash");
  }
  WebTarget out;
  const size_t mark = target.find('?');
  std::string_view path = target.substr(0, mark);
  if (mark != std::string_view::npos) {
    RETURN_IF_ERROR(AddQuery(target.substr(mark + 1), &out));
  }
  const bool below = path.substr(0, base_path.size()) == base_path &&
                     (path.size() == base_path.size() || path[base_path.size()] == '/');
  if (below) path.remove_prefix(base_path.size());
  while (!path.empty()) {
    path.remove_prefix(1);  // The slash.
    const size_t end = path.find('/');
    const std::string_view text = path.substr(0, end);
    path = end == std::string_view::npos ? "" : path.substr(end);
    if (text.empty() && path.empty()) {
      out.ends_with_slash = true;
      break;
    }
    ASSIGN_OR_RETURN(std::string segment, PercentDecode(text, false));
    const bool embed = !out.segments.empty() && out.segments[0] == kEmbed;
    if (!IsPlace(segment, embed)) {
      return absl::InvalidArgumentError("a part of the path is no name");
    }
    if (out.segments.size() == kSegmentsMax) {
      return absl::InvalidArgumentError("the path has too many parts");
    }
    out.segments.push_back(std::move(segment));
  }
  return out;
}

}  // namespace taas::dashboard
