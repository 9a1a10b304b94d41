#include "operator/api/quantity.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

namespace taas {
namespace {

constexpr std::string_view kForm =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view kSuffix = "unable to parse quantity's suffix";
constexpr std::string_view kNumber = "unable to parse numeric part of quantity";

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kSuffixLetters = "eEinumkKMGTP";
constexpr std::string_view kSpaces = " \t\n\r\v\f";
// More than an amount of 64 bits has; further ones count only for the rounding. Times 2^60 they
// still fit into 128 bits.
constexpr size_t kDigitsMax = 20;
// Tens beyond these change nothing: the amount is too large, or less than a thousandth.
constexpr int kTensMax = 64;
constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();

using Wide = unsigned __int128;

struct Suffix {
  std::string_view text;
  int tens;
  int twos;
};

constexpr Suffix kSuffixes[] = {{"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},
                                {"k", 3, 0},   {"M", 6, 0},   {"G", 9, 0},   {"T", 12, 0},
                                {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
                                {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60}};
// From here on a number without digits is none; Kubernetes takes "Ti", as 0.
constexpr int kTwosThatNeedDigits = 50;

// A text taken apart; flaw: why it cannot be.
struct Parts {
  std::string_view flaw;
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  int tens = 0;
  int twos = 0;
};

std::string_view TakeFront(std::string_view letters, std::string_view* text) {
  const size_t end = std::min(text->find_first_not_of(letters), text->size());
  const std::string_view front = text->substr(0, end);
  text->remove_prefix(end);
  return front;
}

bool ReadSuffix(std::string_view text, Parts* parts) {
  const auto found = std::find_if(std::begin(kSuffixes), std::end(kSuffixes),
                                  [&](const Suffix& suffix) { return suffix.text == text; });
  if (found != std::end(kSuffixes)) {
    parts->tens = found->tens;
    parts->twos = found->twos;
    return true;
  }
  // "1E" is an exa, "1E3" a thousand.
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return false;
  text.remove_prefix(1);
  if (text[0] == '+' && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  int64_t exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  parts->tens = static_cast<int>(std::clamp<int64_t>(exponent, -10 * kTensMax, 10 * kTensMax));
  return true;
}

// As ParseQuantity of k8s.io/apimachinery takes a text apart.
Parts TakeApart(std::string_view text) {
  Parts parts;
  if (text.empty()) return {.flaw = kForm};
  if (text[0] == '+' || text[0] == '-') {
    parts.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  parts.whole = TakeFront(kDigits, &text);
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    parts.fraction = TakeFront(kDigits, &text);
  }
  const std::string_view suffix = text;
  TakeFront(kSuffixLetters, &text);
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  TakeFront(kDigits, &text);
  if (!text.empty()) return {.flaw = kForm};
  if (!ReadSuffix(suffix, &parts)) return {.flaw = kSuffix};
  const bool digits = !parts.whole.empty() || !parts.fraction.empty();
  if (!digits && parts.twos >= kTwosThatNeedDigits) return {.flaw = kNumber};
  return parts;
}

// In thousandths, rounded up; more than kMost: too large.
Wide MilliOf(const Parts& parts) {
  Wide amount = 0;
  size_t count = 0;
  bool rest = false;  // Something was cut off.
  int tens = parts.tens + 3;
  const auto take = [&](std::string_view digits, bool fraction) {
    for (const char digit : digits) {
      const bool kept = count < kDigitsMax;
      if (kept) {
        amount = amount * 10 + static_cast<Wide>(digit - '0');
        if (fraction) --tens;
      } else {
        rest = rest || digit != '0';
        if (!fraction) ++tens;
      }
      if (amount > 0) ++count;
    }
  };
  take(parts.whole, /*fraction=*/false);
  take(parts.fraction, /*fraction=*/true);
  amount <<= parts.twos;
  for (; tens > 0 && amount > 0 && amount <= kMost; --tens) amount *= 10;
  for (; tens < 0 && amount > 0; ++tens) {
    rest = rest || amount % 10 != 0;
    amount /= 10;
  }
  return amount + (rest ? 1 : 0);
}

std::string_view Trim(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

}  // namespace

std::optional<int64_t> QuantityMilli(const std::string& text) {
  const Parts parts = TakeApart(text);
  if (!parts.flaw.empty()) return std::nullopt;
  const Wide milli = MilliOf(parts);
  if (milli > kMost || (parts.negative && milli > 0)) return std::nullopt;
  return static_cast<int64_t>(milli);
}

int64_t SaturatedMilli(std::string_view text) {
  const Parts parts = TakeApart(Trim(text));
  if (!parts.flaw.empty()) return 0;
  const auto milli = static_cast<int64_t>(std::min<Wide>(MilliOf(parts), kMost));
  return parts.negative ? -milli : milli;
}

std::string_view QuantityFlaw(std::string_view text) { return TakeApart(Trim(text)).flaw; }

std::string MilliQuantity(int64_t milli) {
  return milli % 1000 == 0 ? std::to_string(milli / 1000) : std::to_string(milli) + "m";
}

}  // namespace taas
