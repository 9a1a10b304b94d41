// A text that most objects do not have: one pointer where a string would take four.
//
// Ownership: value type. Threads: as a std::string. Errors: none.
//
//   RareText why;
//   if (!why.empty()) Say(why);  // As a const std::string&.

#ifndef OPERATOR_BASE_RARE_TEXT_H_
#define OPERATOR_BASE_RARE_TEXT_H_

#include <concepts>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace taas {

class RareText {
 public:
  // Implicit, as of a string.
  RareText() = default;
  RareText(std::string text)
      : text_(text.empty() ? nullptr : std::make_unique<std::string>(std::move(text))) {}
  RareText(const char* text) : RareText(std::string(text)) {}
  RareText(const RareText& other) : RareText(other.str()) {}
  RareText(RareText&&) = default;
  RareText& operator=(const RareText& other) { return *this = RareText(other); }
  RareText& operator=(RareText&&) = default;

  bool empty() const { return text_ == nullptr; }
  void clear() { text_.reset(); }
  // Not of a temporary, which a reference would outlive.
  const std::string& str() const& {
    static const std::string none;
    return text_ == nullptr ? none : *text_;
  }
  const std::string& str() const&& = delete;
  operator const std::string&() const& { return str(); }
  operator const std::string&() const&& = delete;
  operator std::string_view() const& { return str(); }
  operator std::string_view() const&& = delete;

  friend bool operator==(const RareText& a, const RareText& b) { return a.str() == b.str(); }
  template <std::convertible_to<std::string_view> T>
  friend bool operator==(const RareText& a, const T& b) {
    return a.str() == std::string_view(b);
  }
  friend std::string operator+(const RareText& a, const std::string& b) { return a.str() + b; }
  friend std::string operator+(const std::string& a, const RareText& b) { return a + b.str(); }
  friend std::ostream& operator<<(std::ostream& out, const RareText& text) {
    return out << text.str();
  }

 private:
  std::unique_ptr<const std::string> text_;  // Null, or not empty.
};

}  // namespace taas

#endif  // OPERATOR_BASE_RARE_TEXT_H_
