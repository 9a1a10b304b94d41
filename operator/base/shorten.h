// A sentence for people that is longer than there is room for: its beginning says what it is about,
// and its end why, as of errors that wrap each other.
//
// Ownership: values. Threads: any. Errors: none.
//
//   Shortened("ErrImagePull: failed to pull the image: dial tcp: network is unreachable", 48)
//       == "ErrImagePull: failed to pull … unreachable"

#ifndef OPERATOR_BASE_SHORTEN_H_
#define OPERATOR_BASE_SHORTEN_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace taas {

// `text`, or two thirds of `bytes_max` of its beginning and the rest of its end with "…" between
// them: at most `bytes_max` bytes, cut between words where there are any nearby, and never inside a
// character. A text that was shortened to as much before stays as it is.
std::string Shortened(std::string_view text, size_t bytes_max);

}  // namespace taas

#endif  // OPERATOR_BASE_SHORTEN_H_
