// One histogram of a series, as its file has it, and the two views of it: TensorBoard's buckets and
// the true bins.
//
// Files have two forms: limits and counts (HistogramProto, of TensorFlow 1, PyTorch and our
// trainer), and rows of left edge, right edge and count (a tensor, of TensorFlow 2).
//
// Ownership: value types. Threads: any. Errors: nothing for bytes that are no histogram or hold
// more bins than kBinsMax.
//
//   std::optional<Histogram> histogram = ParseHisto(bytes);
//   for (const Bucket& bucket : BucketsOf(*histogram)) ...

#ifndef DASHBOARD_EVENTS_HISTOGRAM_H_
#define DASHBOARD_EVENTS_HISTOGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace taas::dashboard {

// TensorFlow's own have at most 1,549; more than this is a mistake of the writer, or an attack.
inline constexpr size_t kBinsMax = 20'000;

struct Histogram {
  double wall = 0;
  int64_t step = 0;
  bool has_rows = false;  // Of which of the two forms it is.
  double min = 0;         // Limits and counts only: of the values that were counted.
  double max = 0;
  std::vector<double> numbers;  // All limits, then all counts; or row after row.

  size_t bins() const { return numbers.size() / (has_rows ? 3 : 2); }
  size_t bytes() const { return sizeof(Histogram) + numbers.capacity() * sizeof(double); }
};

std::optional<Histogram> ParseHisto(std::string_view message);
// Of a TensorProto of shape [k, 3].
std::optional<Histogram> ParseHistogramTensor(std::string_view message);

struct Bucket {
  double left = 0;
  double right = 0;
  double count = 0;
};

// As TensorBoard has it: of limits and counts the empty ends are cut off, the outermost edges
// replaced by the least and the largest value, and all is rounded to floats.
std::vector<Bucket> BucketsOf(const Histogram& histogram);

struct Bins {
  std::vector<double> edges;   // One more than counts, ascending; none where nothing was counted.
  std::vector<double> counts;
  double min = 0;
  double max = 0;
};

// With the edges of the file. Only the empty ends are cut off, and an outermost edge that is no
// finite number, or TensorFlow's ±largest double, is the least or largest value.
Bins BinsOf(const Histogram& histogram);
// How many bins there are from the first to the last that is not empty.
size_t FilledBinsOf(const Histogram& histogram);

// Basis points of a normal distribution's -∞, -1.5σ, -σ, … +∞.
inline constexpr std::array<int, 9> kBasisPoints = {0,    668,  1587, 3085, 5000,
                                                    6915, 8413, 9332, 10000};

// The values below which so many of the counted ones lie, interpolated within a bucket, as
// TensorBoard's distributions have them.
std::array<double, kBasisPoints.size()> ValuesAtBasisPoints(std::span<const Bucket> buckets);

}  // namespace taas::dashboard

#endif  // DASHBOARD_EVENTS_HISTOGRAM_H_
