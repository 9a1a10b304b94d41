#include "trainer/summary/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace taas {
namespace {

// Sign, exponent and four bits of the mantissa: cells at most 1/16 wide, below the tenth between
// two edges, so that none holds more than one edge.
constexpr int kCellShift = 19;
constexpr size_t kCells = size_t{1} << (32 - kCellShift);

std::vector<double> MakeEdges() {
  constexpr double kSmallest = 1e-12;
  constexpr double kLargest = 1e20;
  constexpr double kGrowth = 1.1;
  std::vector<double> positive;
  for (double edge = kSmallest; edge < kLargest; edge *= kGrowth) positive.push_back(edge);
  positive.push_back(std::numeric_limits<double>::max());
  std::vector<double> edges;
  for (auto edge = positive.rbegin(); edge != positive.rend(); ++edge) edges.push_back(-*edge);
  edges.push_back(0);
  edges.insert(edges.end(), positive.begin(), positive.end());
  return edges;
}

// The bucket of the least value of each cell.
std::vector<uint16_t> MakeFirstBuckets() {
  const std::vector<double>& edges = Histogram::Edges();
  std::vector<uint16_t> first(kCells);
  for (size_t cell = 0; cell < kCells; ++cell) {
    const bool negative = cell >= kCells / 2;
    const uint32_t low_bits = negative ? (uint32_t{1} << kCellShift) - 1 : 0;
    const auto least = std::bit_cast<float>(static_cast<uint32_t>(cell << kCellShift) | low_bits);
    if (!std::isfinite(least)) continue;  // Never looked up.
    first[cell] = static_cast<uint16_t>(
        std::upper_bound(edges.begin(), edges.end(), static_cast<double>(least)) - edges.begin());
  }
  return first;
}

}  // namespace

const std::vector<double>& Histogram::Edges() {
  static const std::vector<double> edges = MakeEdges();
  return edges;
}

Histogram::Histogram() : counts_(Edges().size()) {}

void Histogram::Add(std::span<const float> values) {
  static const std::vector<uint16_t> first = MakeFirstBuckets();
  const std::vector<double>& edges = Edges();
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    size_t bucket = first[std::bit_cast<uint32_t>(value) >> kCellShift];
    while (edges[bucket] <= value) ++bucket;
    ++counts_[bucket];
    const double wide = value;
    min_ = count_ == 0 ? wide : std::min(min_, wide);
    max_ = count_ == 0 ? wide : std::max(max_, wide);
    ++count_;
    sum_ += wide;
    sum_squares_ += wide * wide;
  }
}

summary::HistogramProto Histogram::ToProto() const {
  summary::HistogramProto proto;
  proto.set_min(min_);
  proto.set_max(max_);
  proto.set_num(static_cast<double>(count_));
  proto.set_sum(sum_);
  proto.set_sum_squares(sum_squares_);
  const auto add = [&](size_t bucket) {
    proto.add_bucket_limit(Edges()[bucket]);
    proto.add_bucket(static_cast<double>(counts_[bucket]));
  };
  const auto filled = [](int64_t count) { return count > 0; };
  const auto begin = std::find_if(counts_.begin(), counts_.end(), filled);
  if (begin == counts_.end()) return proto;
  const size_t last = counts_.size() - 1 -
                      static_cast<size_t>(std::find_if(counts_.rbegin(), counts_.rend(), filled) -
                                          counts_.rbegin());
  for (size_t i = static_cast<size_t>(begin - counts_.begin()); i <= last; ++i) {
    // Of a run of empty buckets only the last is written: it ends where the next one begins.
    if (counts_[i] == 0 && counts_[i + 1] == 0) continue;
    add(i);
  }
  return proto;
}

}  // namespace taas
