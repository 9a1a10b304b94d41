// The text behind `-f`: a file, a pipe, or standard input for "-".
//
// Reads to the end and never seeks, so what `... | taas` and `<(...)` hand over can be read too.
//
// Ownership: values. Threads: any. Errors: NotFound, PermissionDenied, Unavailable, InvalidArgument
// where there is more of it than any manifest has; with the path.
//
//   ASSIGN_OR_RETURN(const std::string text, ReadInput("-"));
//   ASSIGN_OR_RETURN(const std::string other, ReadInput("mnist.yaml"));

#ifndef CLI_READ_INPUT_H_
#define CLI_READ_INPUT_H_

#include <string>

#include "absl/status/statusor.h"

namespace taas {

absl::StatusOr<std::string> ReadInput(const std::string& path);

}  // namespace taas

#endif  // CLI_READ_INPUT_H_
