// Warnings of an answer as headers, cut as a kube-apiserver cuts them.
//
// What a client sent stands in them: a header that it could make as long as it likes would be more
// than clients, and the writer of headers, take.
//
// Ownership: values. Threads: any. Errors: none.
//
//   for (std::string& value : WarningHeaders(warnings)) headers.push_back({"Warning", value});

#ifndef LOCALKUBE_API_SERVE_WARNING_HEADERS_H_
#define LOCALKUBE_API_SERVE_WARNING_HEADERS_H_

#include <cstddef>
#include <string>
#include <vector>

namespace taas::localkube {

// A kube-apiserver's: once all warnings together have more characters, each is cut, and none
// follows when the cut ones have that many.
inline constexpr size_t kWarningCharactersMax = 4 * 1024;
inline constexpr size_t kCutWarningCharacters = 256;

// Values of the header Warning (RFC 7234), `299 - "…"`; each sentence once. Characters that steer
// a terminal become spaces.
std::vector<std::string> WarningHeaders(const std::vector<std::string>& warnings);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_SERVE_WARNING_HEADERS_H_
