#include "localkube/node/program_text.h"

#include <algorithm>
#include <utility>

#include "operator/base/status.h"

namespace taas::localkube {
namespace {

// Of a name in an error.
constexpr size_t kNameBytesMax = 100;
// What the kernel counts with each string: the zero behind it and a pointer to it.
constexpr size_t kStringOverhead = 1 + sizeof(char*);

std::string Shortened(std::string_view name) {
  if (name.size() <= kNameBytesMax) return std::string(name);
  return std::string(name.substr(0, kNameBytesMax)) + "...";
}

absl::Status TooLong(const std::string& owner, const std::string& what, size_t limit) {
  return absl::InvalidArgumentError(
      owner + ": " + what + " has more than the " + std::to_string(limit) +
      " bytes that a program can be given, after each $(NAME) is replaced by its value; pass "
      "what is large in a file");
}

}  // namespace

absl::StatusOr<std::string> ExpandVariables(std::string_view text, const Variables& variables,
                                            size_t bytes_max, std::string* unknown) {
  std::string out;
  // Asked once: a text of many openings and no end is not searched to its end from each of them.
  const size_t last_end = text.rfind(')');
  for (size_t at = 0; at < text.size();) {
    // Up to the next sign that may mean something.
    size_t next = std::min(text.find('$', at), text.size());
    std::string_view part = text.substr(at, next - at);
    if (part.empty()) {
      const char after = at + 1 < text.size() ? text[at + 1] : '\0';
      const bool closed = after == '(' && last_end != std::string_view::npos && at < last_end;
      const size_t end = closed ? text.find(')', at) : at;
      part = text.substr(at, closed ? end + 1 - at : 1);
      next = closed ? end + 1 : at + (after == '$' ? 2 : 1);
      if (closed) {
        const std::string_view name = part.substr(2, part.size() - 3);
        const auto variable = variables.find(name);
        if (variable != variables.end()) {
          part = variable->second;
        } else if (unknown != nullptr && unknown->empty()) {
          *unknown = name;
        }
      }
    }
    if (part.size() > bytes_max - out.size()) return absl::OutOfRangeError("expand: too long");
    out += part;
    at = next;
  }
  return out;
}

absl::Status ProgramText::Count(const std::string& what, size_t bytes, size_t bytes_before) {
  if (bytes >= kProgramStringBytesMax) return TooLong(owner_, what, kProgramStringBytesMax - 1);
  bytes_ += bytes + kStringOverhead;
  bytes_ -= bytes_before;
  if (bytes_ <= kProgramBytesMax) return absl::OkStatus();
  return TooLong(owner_, "its command and environment together, up to " + what + ",",
                 kProgramBytesMax);
}

absl::Status ProgramText::SetEnv(const std::string& name, std::string value) {
  const auto found = variables_.find(name);
  const size_t before =
      found == variables_.end() ? 0 : name.size() + 1 + found->second.size() + kStringOverhead;
  RETURN_IF_ERROR(
      Count("the variable " + Shortened(name), name.size() + 1 + value.size(), before));
  if (found != variables_.end()) {
    found->second = std::move(value);
    return absl::OkStatus();
  }
  order_.push_back(name);
  variables_.emplace(name, std::move(value));
  return absl::OkStatus();
}

absl::Status ProgramText::ExpandEnv(const std::string& name, std::string_view value) {
  ASSIGN_OR_RETURN(std::string expanded, Expand("the variable " + Shortened(name), value,
                                                kProgramStringBytesMax - 1));
  return SetEnv(name, std::move(expanded));
}

absl::Status ProgramText::AddWord(std::string_view word) {
  const std::string what = "word " + std::to_string(words_.size() + 1) + " of its command";
  ASSIGN_OR_RETURN(std::string expanded, Expand(what, word, kProgramStringBytesMax - 1));
  RETURN_IF_ERROR(Count(what, expanded.size(), 0));
  words_.push_back(std::move(expanded));
  return absl::OkStatus();
}

absl::StatusOr<std::string> ProgramText::Expand(const std::string& what, std::string_view text,
                                                size_t bytes_max, std::string* unknown) const {
  absl::StatusOr<std::string> out = ExpandVariables(text, variables_, bytes_max, unknown);
  if (absl::IsOutOfRange(out.status())) return TooLong(owner_, what, bytes_max);
  return out;
}

std::string* ProgramText::FindEnv(std::string_view name) {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

std::vector<std::string> ProgramText::Environment() const {
  std::vector<std::string> out;
  for (const std::string& name : order_) out.push_back(name + "=" + variables_.find(name)->second);
  return out;
}

}  // namespace taas::localkube
