#include "tools/tidy/source_text.h"

#include <cctype>

namespace taas::tidy {
namespace {

// Walks over the text and blanks what is not code.
class Stripper {
 public:
  explicit Stripper(std::string_view text) : text_(text) {}

  std::string Run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (Starts("//")) {
        BlankUntil("\n", 0);
      } else if (Starts("/*")) {
        BlankUntil("*/", 2);
      } else if (c == '"' && Before() == 'R') {
        RawString();
      } else if (c == '"' || (c == '\'' && std::isalnum(Before()) == 0)) {
        Literal(c);  // An apostrophe after a digit separates thousands.
      } else {
        out_.push_back(c);
        ++at_;
      }
    }
    return std::move(out_);
  }

 private:
  bool Starts(std::string_view what) const { return text_.substr(at_, what.size()) == what; }
  int Before() const { return at_ == 0 ? ' ' : static_cast<unsigned char>(text_[at_ - 1]); }

  void Blank(size_t end) {
    for (; at_ < end && at_ < text_.size(); ++at_) {
      out_.push_back(text_[at_] == '\n' ? '\n' : ' ');
    }
  }
  void BlankUntil(std::string_view what, size_t extra) {
    const size_t found = text_.find(what, at_ + extra);
    Blank(found == std::string_view::npos ? text_.size() : found + extra);
  }
  void RawString() {
    const size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return Blank(text_.size());
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const size_t found = text_.find(close, open);
    Blank(found == std::string_view::npos ? text_.size() : found + close.size());
  }
  void Literal(char quote) {
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2 : 1;
    }
    out_.push_back(quote);
    ++at_;
    Blank(end);
    if (at_ < text_.size() && text_[at_] == quote) {
      out_.push_back(quote);
      ++at_;
    }
  }

  const std::string_view text_;
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string CodeOnly(std::string_view text) { return Stripper(text).Run(); }

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

size_t Columns(std::string_view line) {
  size_t columns = 0;
  for (const char c : line) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) ++columns;
  }
  return columns;
}

}  // namespace taas::tidy
