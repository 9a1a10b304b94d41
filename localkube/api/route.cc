#include "localkube/api/route.h"

#include <vector>

#include "operator/base/status.h"

namespace taas::localkube {
namespace {

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

absl::StatusOr<std::string> Decode(std::string_view text, bool plus_is_space) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? HexValue(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexValue(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return absl::InvalidArgumentError("bad percent-encoding in " + std::string(text));
      }
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

absl::StatusOr<std::vector<std::string>> Segments(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    ASSIGN_OR_RETURN(std::string segment, Decode(path.substr(0, slash), false));
    if (!segment.empty()) segments.push_back(std::move(segment));
    path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
  }
  return segments;
}

// /api/v1/… and /apis/GROUP/VERSION/… down to kind, namespace, name and subresource.
void Resolve(const std::vector<std::string>& segments, Route* route) {
  std::string group, version;
  size_t at = 0;
  if (segments.size() > 2 && segments[0] == "api") {
    version = segments[1];
    at = 2;
  } else if (segments.size() > 3 && segments[0] == "apis") {
    group = segments[1];
    version = segments[2];
    at = 3;
  } else {
    return;
  }
  // namespaces/N/PLURAL…, but namespaces/N and namespaces/N/status are the namespace itself.
  const bool inside = segments[at] == "namespaces" && segments.size() > at + 2 &&
                      segments[at + 2] != "status" && segments[at + 2] != "finalize";
  if (inside) {
    route->ns = segments[at + 1];
    at += 2;
  }
  const Kind* kind = FindKind(group, version, segments[at]);
  if (kind == nullptr || (inside && !kind->namespaced) || segments.size() > at + 3) return;
  if (segments.size() > at + 1) route->name = segments[at + 1];
  if (segments.size() > at + 2) route->subresource = segments[at + 2];
  if (kind->namespaced && !inside && !route->name.empty()) return;  // A name needs a namespace.
  route->kind = kind;
}

}  // namespace

absl::StatusOr<Route> ParseRoute(std::string_view target) {
  Route route;
  const size_t question = target.find('?');
  const std::string_view path = target.substr(0, question);
  route.path = std::string(path);
  std::string_view query =
      question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
  while (!query.empty()) {
    const size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    const size_t equals = pair.find('=');
    ASSIGN_OR_RETURN(std::string key, Decode(pair.substr(0, equals), true));
    std::string value;
    if (equals != std::string_view::npos) {
      ASSIGN_OR_RETURN(value, Decode(pair.substr(equals + 1), true));
    }
    route.query.emplace(std::move(key), std::move(value));
    query = end == std::string_view::npos ? "" : query.substr(end + 1);
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> segments, Segments(path));
  Resolve(segments, &route);
  return route;
}

}  // namespace taas::localkube
