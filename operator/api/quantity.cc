#include "operator/api/quantity.h"

#include <cmath>
#include <cstdlib>
#include <map>

namespace taas {
namespace {

// The largest double below 2^63.
constexpr double kMost = 9.2233720368547748e18;

const std::map<std::string, long double>& Suffixes() {
  static const std::map<std::string, long double> suffixes = {
      {"n", 1e-6L},       {"u", 1e-3L},         {"m", 1},       {"", 1e3L},
      {"k", 1e6L},        {"M", 1e9L},          {"G", 1e12L},   {"T", 1e15L},
      {"P", 1e18L},       {"E", 1e21L},         {"Ki", 1024e3L}, {"Mi", 1048576e3L},
      {"Gi", 1073741824e3L}, {"Ti", 1099511627776e3L}, {"Pi", 1125899906842624e3L},
      {"Ei", 1152921504606846976e3L}};
  return suffixes;
}

}  // namespace

std::optional<int64_t> QuantityMilli(const std::string& text) {
  // strtold takes more than a quantity may be: white space, hexadecimal numbers, "nan".
  const size_t digits = text.find_first_not_of("+.0123456789");
  if (text.empty() || digits == 0) return std::nullopt;
  if (text.find_first_of("xX") != std::string::npos) return std::nullopt;
  // "1E" is an exa, "1E3" a thousand.
  char* end = nullptr;
  const long double number = std::strtold(text.c_str(), &end);
  if (end == text.c_str()) return std::nullopt;
  const auto suffix = Suffixes().find(end);
  if (suffix == Suffixes().end()) return std::nullopt;
  const long double milli = std::ceil(number * suffix->second);
  if (!(milli >= 0) || milli > kMost) return std::nullopt;
  return static_cast<int64_t>(milli);
}

std::string MilliQuantity(int64_t milli) {
  return milli % 1000 == 0 ? std::to_string(milli / 1000) : std::to_string(milli) + "m";
}

}  // namespace taas
