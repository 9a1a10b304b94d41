// Finds values inside a JSON text without reading the text into a document.
//
// A list of 500 jobs is cut into 500 slices of the reply's own bytes (list_page.h); each is then
// decoded by whoever knows the kind. Slices are only looked at lexically: their decoder is the
// judge of whether they are valid.
//
// Ownership: slices point into the caller's text. Threads: any. Errors: InvalidArgument with the
// byte offset where the text stops being JSON of the expected shape. Nesting costs no stack.
//
//   ASSIGN_OR_RETURN(std::optional<std::string_view> object, FindMember(line, "object"));

#ifndef OPERATOR_KUBE_JSON_SLICE_H_
#define OPERATOR_KUBE_JSON_SLICE_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taas {

// Calls `on_member` with each key (as written, escapes kept) and raw value of the object `json`.
absl::Status ForEachMember(
    std::string_view json,
    const std::function<absl::Status(std::string_view key, std::string_view value)>& on_member);
// Calls `on_element` with each raw value of the array `json`.
absl::Status ForEachElement(std::string_view json,
                            const std::function<absl::Status(std::string_view value)>& on_element);
absl::StatusOr<std::optional<std::string_view>> FindMember(std::string_view json,
                                                           std::string_view key);
// The value of a JSON string, escapes resolved.
absl::StatusOr<std::string> StringOf(std::string_view json);

}  // namespace taas

#endif  // OPERATOR_KUBE_JSON_SLICE_H_
