// A request's target taken apart: segments of the path and pairs of the query, decoded.
//
// A segment that means another place once decoded ("..", ".", one with a slash, a backslash or a
// NUL in it) makes the whole target invalid: no handler ever sees a path that climbs.
//
// Ownership: values. Threads: any. Errors: InvalidArgument for what is no such target.
//
//   ASSIGN_OR_RETURN(WebTarget target, ParseWebTarget("/taas/api/jobs?ns=a%2Fb", "/taas"));

#ifndef DASHBOARD_HTTP_WEB_TARGET_H_
#define DASHBOARD_HTTP_WEB_TARGET_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace taas::dashboard {

// More than any path of ours has, and than any query of ours carries.
inline constexpr size_t kSegmentsMax = 16;
inline constexpr size_t kQueryPairsMax = 2'000;

struct WebTarget {
  std::vector<std::string> segments;
  bool ends_with_slash = false;
  std::vector<std::pair<std::string, std::string>> query;
};

// `base_path`: "" or "/prefix", which is taken away; a target without it is taken as it is, since a
// proxy may have taken it away before.
absl::StatusOr<WebTarget> ParseWebTarget(std::string_view target, std::string_view base_path);

// "%2F" becomes "/", and in queries "+" a space. InvalidArgument: a % without two digits.
absl::StatusOr<std::string> PercentDecode(std::string_view text, bool plus_is_space);

}  // namespace taas::dashboard

#endif  // DASHBOARD_HTTP_WEB_TARGET_H_
