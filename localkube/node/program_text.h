// The command line and the environment of a program, within what the kernel gives one.
//
// Pure. A few variables that name each other twice make more text than any machine has memory for,
// so what is longer than the kernel takes is refused while it is made, not after.
//
// Ownership: value types. Threads: const access from any thread. Errors: InvalidArgument, with what
// is too long and the limit.
//
//   ProgramText text("container c");
//   RETURN_IF_ERROR(text.SetEnv("A", "$(HOME)/a"));
//   RETURN_IF_ERROR(text.AddWord("--dir=$(A)"));

#ifndef LOCALKUBE_NODE_PROGRAM_TEXT_H_
#define LOCALKUBE_NODE_PROGRAM_TEXT_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taas::localkube {

// Linux's MAX_ARG_STRLEN: an argument, or a variable with its name, and the zero behind it.
inline constexpr size_t kProgramStringBytesMax = 128 << 10;
// All of them together and a pointer to each: Linux's limit under the usual stack of 8 MiB.
inline constexpr size_t kProgramBytesMax = 2 << 20;

using Variables = std::map<std::string, std::string, std::less<>>;

// Replaces `$(NAME)` by its value, `$$(NAME)` by "$(NAME)"; unknown names stay, as in Kubernetes.
// OutOfRange: the result would have more than `bytes_max` bytes. `unknown`, if given, gets the
// first name that has no value.
absl::StatusOr<std::string> ExpandVariables(std::string_view text, const Variables& variables,
                                            size_t bytes_max, std::string* unknown = nullptr);

class ProgramText {
 public:
  // `owner` begins each error.
  explicit ProgramText(std::string owner) : owner_(std::move(owner)) {}

  // Replaces an earlier value; the place in the order stays.
  absl::Status SetEnv(const std::string& name, std::string value);
  // With variables that were set before replaced.
  absl::Status ExpandEnv(const std::string& name, std::string_view value);
  absl::Status AddWord(std::string_view word);
  absl::StatusOr<std::string> Expand(const std::string& what, std::string_view text,
                                     size_t bytes_max, std::string* unknown = nullptr) const;

  // Null: there is none of that name.
  std::string* FindEnv(std::string_view name);
  const std::vector<std::string>& words() const { return words_; }
  // "NAME=value", in the order in which the names came first.
  std::vector<std::string> Environment() const;

 private:
  absl::Status Count(const std::string& what, size_t bytes, size_t bytes_before);

  const std::string owner_;
  std::vector<std::string> order_;
  Variables variables_;
  std::vector<std::string> words_;
  size_t bytes_ = 0;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_PROGRAM_TEXT_H_
