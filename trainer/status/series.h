// Curves over the steps of a training, each of a bounded number of points: the source of
// `GET /series`.
//
// When a curve is full every second point goes and from then on only every second one is taken, so
// that any length of training is shown evenly. The newest point is always there.
//
// Ownership: value behind a lock. Threads: any. Errors: InvalidArgument for a query that is none.
//
//   series.Add("loss", {.step = 100, .wall_seconds = 1.7e9, .value = 0.3});
//   ASSIGN_OR_RETURN(const std::string body, series.Json("since=100"));

#ifndef TRAINER_STATUS_SERIES_H_
#define TRAINER_STATUS_SERIES_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taas {

class Series {
 public:
  // More than a screen has columns; five curves are 120 KB of JSON.
  static constexpr size_t kPointsMax = 1'000;

  struct Point {
    int64_t step = 0;
    double wall_seconds = 0;  // Since 1970.
    double value = 0;
  };

  // `step` is above that of the curve's last point; DropFrom makes room for a step again. The
  // number of names is bounded too: event files that are read back may hold anything.
  void Add(const std::string& name, const Point& point);
  // The training has gone back: forgets what is at `step` and later.
  void DropFrom(int64_t step);
  std::vector<Point> Points(const std::string& name) const;

  // {"series":{"loss":[[step, wall, value], …], …}}. `query` is "", or "since=STEP" for points of
  // later steps only.
  absl::StatusOr<std::string> Json(std::string_view query) const;

 private:
  struct Curve {
    std::vector<Point> points;
    std::optional<Point> newest;  // If it is none of `points`.
    int64_t stride = 1;
    int64_t added = 0;
  };
  static std::vector<Point> PointsOf(const Curve& curve);

  mutable std::mutex mutex_;
  std::map<std::string, Curve> curves_;
};

}  // namespace taas

#endif  // TRAINER_STATUS_SERIES_H_
