#include "trainer/data/large_features.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"

namespace taas {
namespace {

// Enough to tell dollars from shares, and a fraction of a second of the widest.
constexpr int64_t kExamplesSeen = 1'000;
// No number of a few units, nor a byte's mean: what is larger was hardly meant as it is.
constexpr double kLarge = 100;
// More are counted and not named.
constexpr int kNamedMax = 3;

struct Spread {
  double largest = 0, mean = 0, deviation = 0;
};

Spread SpreadOf(const std::vector<float>& rows, size_t width, size_t feature) {
  Spread spread;
  const double count = static_cast<double>(rows.size() / width);
  for (size_t i = feature; i < rows.size(); i += width) {
    spread.largest = std::max(spread.largest, std::abs(static_cast<double>(rows[i])));
    spread.mean += rows[i] / count;
  }
  for (size_t i = feature; i < rows.size(); i += width) {
    spread.deviation += (rows[i] - spread.mean) * (rows[i] - spread.mean) / count;
  }
  spread.deviation = std::sqrt(spread.deviation);
  return spread;
}

// Of the features that are floats, in their order.
std::vector<std::string> NamesOf(const Dataset& set, size_t width) {
  std::vector<std::string> names;
  for (const ColumnShape& column : set.columns()) {
    if (column.categories == 0) names.push_back("column " + column.name);
  }
  for (size_t i = names.size(); i < width; ++i) names.push_back(absl::StrCat("feature ", i));
  return names;
}

std::string ThreeDigits(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", number);
  return text;
}

// number * scale + offset.
std::string Normalise(const Spread& spread) {
  const double scale = spread.deviation > 0 ? 1 / spread.deviation : 1 / spread.largest;
  return "normalise: {scale: " + ThreeDigits(scale) + ", offset: " +
         ThreeDigits(-spread.mean * scale) + "}";
}

}  // namespace

std::string AdviceOnLargeFeatures(const Dataset& set) {
  const size_t width = static_cast<size_t>(set.features() - set.ids());
  if (set.pixels() > 0 || width == 0 || set.examples() == 0) return "";
  std::vector<int64_t> indices(static_cast<size_t>(std::min(kExamplesSeen, set.examples())));
  std::iota(indices.begin(), indices.end(), 0);
  std::vector<float> rows(indices.size() * width);
  set.GatherFeatures(indices, rows.data());
  const std::vector<std::string> names = NamesOf(set, width);
  std::string advice;
  int large = 0;
  for (size_t i = 0; i < width; ++i) {
    const Spread spread = SpreadOf(rows, width, i);
    if (spread.largest <= kLarge || ++large > kNamedMax) continue;
    absl::StrAppend(&advice, advice.empty() ? "" : "; ", names[i], " has values up to ",
                    spread.largest, ": ", Normalise(spread));
  }
  if (large > kNamedMax) absl::StrAppend(&advice, "; and ", large - kNamedMax, " more");
  return advice;
}

}  // namespace taas
