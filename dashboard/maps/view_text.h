// JSON written piece by piece, for maps of thousands of nodes that are sent once a second: a
// document of nlohmann's takes several times as long.
//
// Ownership: appends to the caller's string. Threads: any. Errors: none; what is no UTF-8 is
// replaced.
//
//   std::string out = "{\"name\":";
//   AppendQuoted(pod.meta.name, &out);

#ifndef DASHBOARD_MAPS_VIEW_TEXT_H_
#define DASHBOARD_MAPS_VIEW_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace taas::dashboard {

// Names in Kubernetes have at most this many characters; what is longer was written by somebody who
// wants to break a page.
inline constexpr size_t kNameShownMax = 253;

// A JSON string of the first `most` bytes of `text`, cut between characters.
void AppendQuoted(std::string_view text, std::string* out, size_t most = kNameShownMax);
// `,"key":"text"`, or nothing where the text is empty.
void AppendText(std::string_view key, std::string_view text, std::string* out,
                size_t most = kNameShownMax);
// `,"key":number`
void AppendNumber(std::string_view key, int64_t number, std::string* out);
// A comma unless `out` ends with the beginning of a list or an object.
void AppendComma(std::string* out);

}  // namespace taas::dashboard

#endif  // DASHBOARD_MAPS_VIEW_TEXT_H_
