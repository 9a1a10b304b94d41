#include "dashboard/server/request_guard.h"

#include <algorithm>
#include <cctype>

#include "dashboard/http/secret_text.h"

namespace taas::dashboard {
namespace {

constexpr std::string_view kBearer = "Bearer ";

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// "[::1]:8080" → "[::1]", "host:80" → "host".
std::string HostWithoutPort(std::string_view host) {
  const size_t bracket = host.find(']');
  const size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
  return Lower(host.substr(0, colon));
}

// "8080", or nothing where the host is named without a port.
std::string_view PortOf(std::string_view host) {
  const size_t bracket = host.find(']');
  const size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon == std::string_view::npos) return {};
  const std::string_view port = host.substr(colon + 1);
  return port.find_first_not_of("0123456789") == std::string_view::npos ? port : "";
}

bool IsLoopbackName(const std::string& host) {
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

}  // namespace

absl::Status RequestGuard::CheckHost(const WebRequest& request) const {
  const std::string host = HostWithoutPort(request.Header("host"));
  if (options_.loopback_only) {
    if (IsLoopbackName(host)) return absl::OkStatus();
    return absl::PermissionDeniedError("the page is asked for as \"" + host +
                                       "\"; on this machine it is http://127.0.0.1");
  }
  const auto& hosts = options_.hosts;
  if (hosts.empty() || std::find(hosts.begin(), hosts.end(), host) != hosts.end()) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError("the page is asked for as \"" + host +
                                     "\", which is none of --hosts");
}

absl::Status RequestGuard::CheckOrigin(const WebRequest& request) const {
  const std::string_view site = request.Header("sec-fetch-site");
  if (!site.empty() && site != "same-origin" && site != "none") {
    return absl::PermissionDeniedError("a page of another site asked for this");
  }
  const std::string origin = Lower(request.Header("origin"));
  if (origin.empty()) return absl::OkStatus();
  const size_t scheme = origin.find("://");
  const std::string host = scheme == std::string::npos ? "" : origin.substr(scheme + 3);
  if (!host.empty() && host == Lower(request.Header("host"))) return absl::OkStatus();
  return absl::PermissionDeniedError("a page of another origin asked for this");
}

std::string SessionCookie(const WebRequest& request) {
  const std::string_view port = PortOf(request.Header("host"));
  return port.empty() ? "taas_session" : "taas_session_" + std::string(port);
}

std::string TokenOf(const WebRequest& request) {
  const std::string_view header = request.Header("authorization");
  if (header.substr(0, kBearer.size()) == kBearer) {
    return std::string(header.substr(kBearer.size()));
  }
  const std::string_view key = CookieValue(request.Header("cookie"), SessionCookie(request));
  const std::string_view half = request.Header(kSessionHeader);
  if (key.empty() || half.empty()) return {};
  return Opened(key, half).value_or("");
}

bool IsWrite(const WebRequest& request) { return request.method != "GET"; }

}  // namespace taas::dashboard
