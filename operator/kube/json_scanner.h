// Walks over one JSON text, value by value, without reading it into anything. What the caller does
// not want is skipped lexically, at the speed of looking for the next quote.
//
// Ownership: points into the caller's text. Threads: one. Errors: InvalidArgument with the byte
// where the text stops being JSON; after one the scanner is of no further use. Nesting costs no
// stack.
//
//   JsonScanner scanner(text);
//   if (!scanner.Take('{')) return scanner.Error("an object is expected");

#ifndef OPERATOR_KUBE_JSON_SCANNER_H_
#define OPERATOR_KUBE_JSON_SCANNER_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taas {

class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : text_(text) {}

  // The byte that is next after white space; 0 at the end.
  char Peek();
  // Takes `c` if it is next, after white space.
  bool Take(char c);
  bool AtEnd();
  // A string with its quotes.
  absl::StatusOr<std::string_view> String();
  // Any value, as it is written.
  absl::StatusOr<std::string_view> Value();
  absl::Status Error(const std::string& what) const;

 private:
  void SkipSpace();
  absl::Status SkipNested();

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_JSON_SCANNER_H_
