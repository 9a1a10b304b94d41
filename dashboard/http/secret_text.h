// Secrets as they go through HTTP: digests to find them by, comparison in constant time, cookies.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const std::string key = Sha256Hex(token);

#ifndef DASHBOARD_HTTP_SECRET_TEXT_H_
#define DASHBOARD_HTTP_SECRET_TEXT_H_

#include <string>
#include <string_view>

namespace taas::dashboard {

std::string Sha256Hex(std::string_view text);
std::string HmacSha256Hex(std::string_view key, std::string_view text);
bool SecretEquals(std::string_view a, std::string_view b);
// 32 random bytes in hex; empty: the machine has none.
std::string RandomSecret();
// Whether it can be a bearer token: RFC 6750's characters, so that nothing else gets into a header.
bool IsBearerToken(std::string_view text);
// The value of a cookie of the header `cookie`; empty: there is none.
std::string_view CookieValue(std::string_view header, std::string_view name);

}  // namespace taas::dashboard

#endif  // DASHBOARD_HTTP_SECRET_TEXT_H_
