#include "operator/kube/json_scanner.h"

#include <cstring>

#include "operator/base/status.h"

namespace taas {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool IsScalarByte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '+' || c == '.';
}

// Whether an odd number of backslashes stands before `at`.
bool IsEscaped(std::string_view text, size_t start, size_t at) {
  size_t before = at;
  while (before > start && text[before - 1] == '\\') --before;
  return (at - before) % 2 == 1;
}

}  // namespace

absl::Status JsonScanner::Error(const std::string& what) const {
  return absl::InvalidArgumentError("invalid JSON at byte " + std::to_string(at_) + ": " + what);
}

void JsonScanner::SkipSpace() {
  while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
}

char JsonScanner::Peek() {
  SkipSpace();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonScanner::Take(char c) {
  SkipSpace();
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool JsonScanner::AtEnd() {
  SkipSpace();
  return at_ == text_.size();
}

absl::StatusOr<std::string_view> JsonScanner::String() {
  SkipSpace();
  const size_t start = at_;
  if (!Take('"')) return Error("a string is expected");
  const size_t first = at_;
  // Most of a pod is strings, and the longest have no escape or few.
  do {
    const void* quote = at_ < text_.size()
                            ? std::memchr(text_.data() + at_, '"', text_.size() - at_)
                            : nullptr;
    if (quote == nullptr) {
      at_ = text_.size();
      return Error("the text ends within a string");
    }
    at_ = static_cast<size_t>(static_cast<const char*>(quote) - text_.data()) + 1;
  } while (IsEscaped(text_, first, at_ - 1));
  return text_.substr(start, at_ - start);
}

absl::StatusOr<std::string_view> JsonScanner::Value() {
  const char next = Peek();
  if (at_ >= text_.size()) return Error("the text ends where a value is expected");
  const size_t start = at_;
  if (next == '"') return String();
  if (next == '{' || next == '[') {
    RETURN_IF_ERROR(SkipNested());
  } else {
    while (at_ < text_.size() && IsScalarByte(text_[at_])) ++at_;
    if (at_ == start) return Error("a value is expected");
  }
  return text_.substr(start, at_ - start);
}

// Up to and with the bracket that closes the one that is next.
absl::Status JsonScanner::SkipNested() {
  std::string open;
  do {
    if (at_ >= text_.size()) return Error("the text ends within an object or array");
    const char c = text_[at_];
    if (c == '"') {
      const absl::StatusOr<std::string_view> skipped = String();
      if (!skipped.ok()) return skipped.status();
      continue;
    }
    if (c == '{' || c == '[') open += c;
    if (c == '}' || c == ']') {
      if (open.back() != (c == '}' ? '{' : '[')) return Error("brackets do not match");
      open.pop_back();
    }
    ++at_;
  } while (!open.empty());
  return absl::OkStatus();
}

}  // namespace taas
