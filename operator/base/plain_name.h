// Names of files and folders that need no escapes in a URL and lead nowhere else on a disk.
//
// Ownership: pure functions. Threads: any. Errors: none.
//
//   if (!IsPlainName(name)) continue;

#ifndef OPERATOR_BASE_PLAIN_NAME_H_
#define OPERATOR_BASE_PLAIN_NAME_H_

#include <algorithm>
#include <string_view>

namespace taas {

inline constexpr size_t kPlainNameMax = 255;  // Of a disk's.

// Letters, digits, '.', '_' and '-'; "." is one, and ".." is none.
inline bool IsPlainName(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kPlainNameMax && name != ".." &&
         std::all_of(name.begin(), name.end(), plain);
}

}  // namespace taas

#endif  // OPERATOR_BASE_PLAIN_NAME_H_
