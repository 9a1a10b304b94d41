// Secrets as they go through HTTP: digests to find them by, texts that only a key opens, cookies.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const std::string digest = Sha256Hex(token);
//   Opened(key, Sealed(key, token)) == token

#ifndef DASHBOARD_HTTP_SECRET_TEXT_H_
#define DASHBOARD_HTTP_SECRET_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

namespace taas::dashboard {

std::string Sha256Hex(std::string_view text);
// `text` under AES-256-GCM, in base64url. Each key seals one text, so there is no nonce to keep.
std::string Sealed(std::string_view key, std::string_view text);
// Nothing: it was not sealed with this key, or has been changed since.
std::optional<std::string> Opened(std::string_view key, std::string_view sealed);
// 32 random bytes in hex; empty: the machine has none.
std::string RandomSecret();
// Whether it can be a bearer token: RFC 6750's characters, so that nothing else gets into a header.
bool IsBearerToken(std::string_view text);
// The value of a cookie of the header `cookie`; empty: there is none.
std::string_view CookieValue(std::string_view header, std::string_view name);

}  // namespace taas::dashboard

#endif  // DASHBOARD_HTTP_SECRET_TEXT_H_
