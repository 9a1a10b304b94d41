// Curves of a job that is over: joined from what its trainer said while it ran, and thinned out.
//
// Pure. A trainer that starts again may not know what was before, so an answer replaces a curve
// only from its own first step on. A curve that is too long is cut into pieces of which each keeps
// its lowest and its highest point: a peak that is gone would be a lie.
//
// Ownership: values. Threads: any. Errors: none: what is no curve is left out, since what answers
// may be a user's own program.
//
//   const std::string kept = JoinCurves(kept_before, answer);

#ifndef DASHBOARD_HISTORY_HISTORY_SERIES_H_
#define DASHBOARD_HISTORY_HISTORY_SERIES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace taas::dashboard {

// More than a screen has columns for; as many as the trainer keeps.
inline constexpr size_t kCurvePointsMax = 1'000;
// Of a job, its evaluator's included; a program of a user's own may have any number.
inline constexpr size_t kCurvesMax = 64;
inline constexpr size_t kCurveNameBytes = 200;
// An answer that is longer is not read: 64 curves of 1,000 points are 4 MB at most.
inline constexpr size_t kSeriesAnswerBytes = 8 << 20;

struct CurvePoint {
  int64_t step = 0;
  double time = 0;  // Seconds since 1970.
  double value = 0;
  bool operator==(const CurvePoint&) const = default;
};
using Curve = std::vector<CurvePoint>;

// First and last point stay.
Curve ThinOut(const Curve& curve, size_t points_max);
// `old` up to where `fresh` begins, then `fresh`.
Curve JoinCurve(const Curve& old, const Curve& fresh);

// Both texts are objects with `series` and `evaluator` as in SeriesAnswer of dashboard/web; so is
// the result, with nothing else in it and always with `series`. Empty: there are no curves.
std::string JoinCurves(std::string_view old, std::string_view answer);

// The same with `point` at the end of the curve `loss` of the training, unless that goes as far.
std::string WithLastLoss(std::string_view curves, const CurvePoint& point);

// The SeriesAnswer of what was recorded: `curves` of JoinCurves, or empty. As it was written: to
// take megabytes of points apart and put them together again would hold up everybody else.
std::string ArchivedAnswer(const std::string& curves);

}  // namespace taas::dashboard

#endif  // DASHBOARD_HISTORY_HISTORY_SERIES_H_
