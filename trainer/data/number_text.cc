#include "trainer/data/number_text.h"

#include <charconv>
#include <cmath>

namespace taas {
namespace {

// A longer value is shown by its beginning.
constexpr size_t kShownBytes = 40;

// Above, doubles are not all whole numbers.
constexpr double kDoublesWholeMax = 9007199254740992;

}  // namespace

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string Shown(std::string_view text) {
  return "\"" + std::string(text.substr(0, kShownBytes)) + "\"";
}

absl::StatusOr<double> ParseNumber(std::string_view text) {
  text = Trim(text);
  if (text.empty()) return absl::InvalidArgumentError("the value is missing");
  const std::string_view whole = text;
  if (text.front() == '+') text.remove_prefix(1);  // Which from_chars does not take.
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && rest == end && std::isfinite(number)) return number;
  return absl::InvalidArgumentError("want a number, it is " + Shown(whole));
}

absl::StatusOr<int64_t> ParseWhole(std::string_view text) {
  const std::string_view digits = Trim(text);
  int64_t whole = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, whole);
  if (error == std::errc() && rest == end) return whole;
  const absl::StatusOr<double> number = ParseNumber(text);
  if (!number.ok()) return number.status();
  if (*number == std::floor(*number) && std::abs(*number) <= kDoublesWholeMax) {
    return static_cast<int64_t>(*number);
  }
  return absl::InvalidArgumentError("want a whole number, it is " + Shown(digits));
}

}  // namespace taas
