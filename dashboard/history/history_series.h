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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dashboard/server/watched.h"
#include "operator/base/clock.h"

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

// Where a job was at its end, as its status says: the trainer's own answers end before.
struct LastPoints {
  std::optional<CurvePoint> loss;                       // Of the training.
  // Of the last evaluation.
  std::optional<CurvePoint> test_loss, test_accuracy, test_perplexity;
};
// `now`: of a job whose end has no time.
LastPoints LastPointsOf(const WatchedJob& job, Clock::WallTime now);
// The same with each of `last` at the end of its curve, unless that goes as far.
std::string WithLastPoints(std::string_view curves, const LastPoints& last);

// The same with the points of `files` at steps at which there is none: of a job that is over they
// are whole, while whoever asked its trainer may have asked for the last time long before its end.
// What was written later than `until`, as by another job into the same directory, is left out.
std::string FilledCurves(std::string_view curves, std::string_view files, double until);

// The SeriesAnswer of what was recorded: `curves` of JoinCurves, or empty. As it was written: to
// take megabytes of points apart and put them together again would hold up everybody else.
std::string ArchivedAnswer(const std::string& curves);

}  // namespace taas::dashboard

#endif  // DASHBOARD_HISTORY_HISTORY_SERIES_H_
