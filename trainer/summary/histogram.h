// How the values of a tensor are spread, in the buckets of TensorFlow.
//
// The edges are ±1e-12 · 1.1^k up to 1e20, 0 and the largest double. A float's upper bits say its
// bucket but for one comparison, so that counting costs little more than reading the memory.
//
// Ownership: value type. Threads: one at a time. Errors: none; what is no finite number is not
// counted.
//
//   Histogram histogram;
//   histogram.Add(weights);
//   *value.mutable_histo() = histogram.ToProto();

#ifndef TRAINER_SUMMARY_HISTOGRAM_H_
#define TRAINER_SUMMARY_HISTOGRAM_H_

#include <cstdint>
#include <span>
#include <vector>

#include "trainer/summary/event.pb.h"

namespace taas {

class Histogram {
 public:
  Histogram();
  void Add(std::span<const float> values);
  // From the first bucket that is not empty to the last; runs of empty ones in between are one, as
  // TensorFlow writes them.
  summary::HistogramProto ToProto() const;

  // The upper edges of all buckets, ascending.
  static const std::vector<double>& Edges();

 private:
  std::vector<int64_t> counts_;
  double min_ = 0;
  double max_ = 0;
  int64_t count_ = 0;
  double sum_ = 0;
  double sum_squares_ = 0;
};

}  // namespace taas

#endif  // TRAINER_SUMMARY_HISTOGRAM_H_
