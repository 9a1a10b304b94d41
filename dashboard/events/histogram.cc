#include "dashboard/events/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dashboard/events/tensor.h"
#include "dashboard/events/wire.h"

namespace taas::dashboard {
namespace {

// What lies outside becomes an infinity, as IEEE 754 has it.
static_assert(std::numeric_limits<float>::is_iec559);
double RoundedToFloat(double value) { return static_cast<double>(static_cast<float>(value)); }

std::span<const double> LimitsOf(const Histogram& histogram) {
  return std::span(histogram.numbers).first(histogram.bins());
}
std::span<const double> CountsOf(const Histogram& histogram) {
  return std::span(histogram.numbers).last(histogram.bins());
}

double CountAt(const Histogram& histogram, size_t bin) {
  return histogram.has_rows ? histogram.numbers[3 * bin + 2]
                            : histogram.numbers[histogram.bins() + bin];
}

// From the first bin that is not empty to behind the last; both 0 if all are empty.
struct Filled {
  size_t begin = 0;
  size_t end = 0;
};

Filled FilledRange(const Histogram& histogram) {
  const size_t bins = histogram.bins();
  size_t begin = 0, end = bins;
  while (begin < bins && !(CountAt(histogram, begin) > 0)) ++begin;
  if (begin == bins) return {};
  while (!(CountAt(histogram, end - 1) > 0)) --end;
  return {begin, end};
}

bool IsTrueEdge(double edge) { return std::abs(edge) < std::numeric_limits<double>::max(); }

Bins BinsOfLimits(const Histogram& histogram) {
  const std::span<const double> limits = LimitsOf(histogram), counts = CountsOf(histogram);
  const auto [begin, end] = FilledRange(histogram);
  Bins bins{.min = histogram.min, .max = histogram.max};
  if (begin == end) return bins;
  bins.counts.assign(counts.begin() + begin, counts.begin() + end);
  bins.edges.reserve(end - begin + 1);
  bins.edges.push_back(begin > 0 ? limits[begin - 1] : histogram.min);
  bins.edges.insert(bins.edges.end(), limits.begin() + begin, limits.begin() + end);
  if (!IsTrueEdge(bins.edges.front())) bins.edges.front() = histogram.min;
  if (!IsTrueEdge(bins.edges.back())) bins.edges.back() = histogram.max;
  return bins;
}

Bins BinsOfRows(const Histogram& histogram) {
  const std::vector<double>& rows = histogram.numbers;
  const auto [begin, end] = FilledRange(histogram);
  Bins bins;
  if (begin == end) return bins;
  bins.edges.push_back(rows[3 * begin]);
  for (size_t i = begin; i < end; ++i) {
    const double left = rows[3 * i], right = rows[3 * i + 1];
    // Rows need not touch; what lies between two was not counted anywhere.
    if (left > bins.edges.back()) {
      bins.edges.push_back(left);
      bins.counts.push_back(0);
    }
    bins.edges.push_back(std::max(bins.edges.back(), right));
    bins.counts.push_back(rows[3 * i + 2]);
  }
  bins.min = bins.edges.front();
  bins.max = bins.edges.back();
  return bins;
}

double Interpolated(double x, double x0, double x1, double y0, double y1) {
  return y0 + (x - x0) * (y1 - y0) / (x1 - x0);
}

}  // namespace

std::optional<Histogram> ParseHisto(std::string_view message) {
  Histogram histogram;
  std::vector<double> counts;
  WireReader field(message);
  while (field.Next()) {
    if (field.Is(1, WireType::kFixed64)) histogram.min = field.AsDouble();
    if (field.Is(2, WireType::kFixed64)) histogram.max = field.AsDouble();
    const bool limits = field.number() == 6;
    if (!limits && field.number() != 7) continue;
    if (!field.AppendFixed<double>(kBinsMax, limits ? &histogram.numbers : &counts)) {
      return std::nullopt;
    }
  }
  if (!field.ok() || histogram.numbers.size() != counts.size()) return std::nullopt;
  std::vector<double> both;
  both.reserve(2 * counts.size());
  both.assign(histogram.numbers.begin(), histogram.numbers.end());
  both.insert(both.end(), counts.begin(), counts.end());
  histogram.numbers = std::move(both);
  return histogram;
}

std::optional<Histogram> ParseHistogramTensor(std::string_view message) {
  std::optional<Tensor> tensor = ParseTensor(message, 3 * kBinsMax);
  if (!tensor || tensor->shape.size() != 2 || tensor->shape[1] != 3) return std::nullopt;
  return Histogram{.has_rows = true, .numbers = std::move(tensor->values)};
}

std::vector<Bucket> BucketsOf(const Histogram& histogram) {
  std::vector<Bucket> buckets;
  if (histogram.has_rows) {
    buckets.reserve(histogram.bins());
    for (size_t i = 0; i + 2 < histogram.numbers.size(); i += 3) {
      const double* const row = &histogram.numbers[i];
      buckets.push_back({.left = row[0], .right = row[1], .count = row[2]});
    }
    return buckets;
  }
  const std::span<const double> limits = LimitsOf(histogram), counts = CountsOf(histogram);
  const auto [begin, end] = FilledRange(histogram);
  buckets.reserve(end - begin);
  for (size_t i = begin; i < end; ++i) {
    const double left = i == begin ? histogram.min : limits[i - 1];
    const double right = i + 1 == end ? histogram.max : limits[i];
    buckets.push_back({.left = RoundedToFloat(left),
                       .right = RoundedToFloat(right),
                       .count = RoundedToFloat(counts[i])});
  }
  return buckets;
}

Bins BinsOf(const Histogram& histogram) {
  return histogram.has_rows ? BinsOfRows(histogram) : BinsOfLimits(histogram);
}

size_t FilledBinsOf(const Histogram& histogram) {
  const auto [begin, end] = FilledRange(histogram);
  return end - begin;
}

std::array<double, kBasisPoints.size()> ValuesAtBasisPoints(std::span<const Bucket> buckets) {
  std::array<double, kBasisPoints.size()> values{};
  if (buckets.empty()) return values;
  double sum = 0;
  for (const Bucket& bucket : buckets) sum += bucket.count;
  if (sum == 0) sum = 1;
  std::vector<double> weights;  // Of all buckets up to this one, in basis points.
  weights.reserve(buckets.size());
  for (const Bucket& bucket : buckets) {
    weights.push_back((weights.empty() ? 0 : weights.back()) +
                      bucket.count * kBasisPoints.back() / sum);
  }
  const double least = buckets.front().left, largest = buckets.back().right;
  values.fill(largest);
  for (size_t point = 0; point < kBasisPoints.size(); ++point) {
    // The first bucket above the basis point that adds any weight; without one the rest of the
    // points keep the largest value. What is no number counts as above all numbers. Not a binary
    // search: negative counts of a bad file put the weights in no order.
    const auto above = std::ranges::find_if(weights, [&](double weight) {
      return weight > kBasisPoints[point] || std::isnan(weight);
    });
    auto i = static_cast<size_t>(above - weights.begin());
    const auto before = [&](size_t at) { return at > 0 ? weights[at - 1] : 0.0; };
    while (i < weights.size() && weights[i] == before(i)) ++i;
    if (i == weights.size()) break;
    const double left = before(i) == 0 ? least : std::max(buckets[i - 1].right, least);
    const double right = std::min(buckets[i].right, largest);
    values[point] = Interpolated(kBasisPoints[point], before(i), weights[i], left, right);
  }
  return values;
}

}  // namespace taas::dashboard
