// Numbers for people to read: three digits and a unit.
//
// Ownership: values. Threads: any. Errors: none.
//
//   ShortText(1'234'567);   // "1.23 M"
//   BytesText(1'234'567);   // "1.23 MB"

#ifndef TRAINER_GRAPH_SHORT_TEXT_H_
#define TRAINER_GRAPH_SHORT_TEXT_H_

#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>

namespace taas {

inline std::string ShortText(double number, std::string_view unit = "") {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T"};
  size_t at = 0;
  while (number >= 1000 && at + 1 < std::size(kPrefixes)) {
    number /= 1000;
    ++at;
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", number);
  const std::string whole = kPrefixes[at] + std::string(unit);
  return text + (whole.empty() ? "" : " " + whole);
}

inline std::string BytesText(size_t bytes) { return ShortText(static_cast<double>(bytes), "B"); }

}  // namespace taas

#endif  // TRAINER_GRAPH_SHORT_TEXT_H_
