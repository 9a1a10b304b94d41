#include "trainer/config/json_text.h"

#include <algorithm>

#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;

// Of the parser's own words, which repeat the last token: a long one is no help.
constexpr size_t kWhyBytesMax = 200;

// The byte `at`, counted from 1, as an editor counts; a column is of bytes.
std::string PlaceOf(std::string_view text, size_t at) {
  const std::string_view before = text.substr(0, at == 0 ? 0 : at - 1);
  const size_t line = static_cast<size_t>(std::ranges::count(before, '\n'));
  const size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0.
  return "line " + std::to_string(line + 1) + ", column " +
         std::to_string(before.size() - begin + 1);
}

// "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while …" and
// "[json.exception.out_of_range.406] number overflow parsing …" without what is said better, as
// one printable line.
std::string WhyOf(const json::exception& error) {
  std::string_view why = error.what();
  for (const std::string_view end : {"] ", ": "}) {
    if (const size_t begin = why.find(end); begin != why.npos) why.remove_prefix(begin + 2);
  }
  std::string out(why.substr(0, kWhyBytesMax));
  std::ranges::replace_if(out, [](char c) { return c < ' ' || c > '~'; }, '?');
  return out + (why.size() > kWhyBytesMax ? "…" : "");
}

}  // namespace

absl::StatusOr<json> ParseJsonText(std::string_view text, const std::string& source) {
  bool deep = false;
  const auto look = [&](int depth, json::parse_event_t, json&) {
    deep = deep || depth > kJsonDepthMax;
    return !deep;
  };
  try {
    json value = json::parse(text.begin(), text.end(), look);
    if (!deep) return value;
  } catch (const json::parse_error& error) {
    return absl::InvalidArgumentError(source + ": not JSON: " + PlaceOf(text, error.byte) + ": " +
                                      WhyOf(error));
  } catch (const json::exception& error) {
    return absl::InvalidArgumentError(source + ": not JSON: " + WhyOf(error));
  }
  return absl::InvalidArgumentError(source + ": it nests deeper than " +
                                    std::to_string(kJsonDepthMax) + " levels");
}

}  // namespace taas
