// A bounded choice of the points of a series, the one that TensorBoard makes: each point that was
// seen is kept with the same chance, and the newest always.
//
// Ownership: owns its points. Threads: one at a time. Errors: none.
//
//   Reservoir<Scalar> points(kScalarsMax);
//   points.Add(scalar);
//   points.Keep([&](const Scalar& point) { return point.step < restart; });

#ifndef DASHBOARD_EVENTS_RESERVOIR_H_
#define DASHBOARD_EVENTS_RESERVOIR_H_

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dashboard/events/python_random.h"

namespace taas::dashboard {

template <typename T>
class Reservoir {
 public:
  // `most` is not 0.
  explicit Reservoir(size_t most) : most_(most) {}

  // In the order in which they came, which is that of the steps but for writers in disorder.
  const std::vector<T>& points() const { return points_; }

  // Returns the point that made room.
  std::optional<T> Add(T point) {
    std::optional<T> gone;
    if (points_.size() < most_) {
      points_.push_back(std::move(point));
    } else {
      if (random_ == nullptr) random_ = std::make_unique<PythonRandom>();
      const uint64_t drawn = random_->Below(seen_ + 1);
      if (drawn < most_) {
        const auto place = points_.begin() + static_cast<ptrdiff_t>(drawn);
        gone = std::move(*place);
        points_.erase(place);
        points_.push_back(std::move(point));
      } else {
        gone = std::exchange(points_.back(), std::move(point));
      }
    }
    ++seen_;
    return gone;
  }

  // Drops what `keep` says no to. How many of the points that were seen it would have kept can only
  // be estimated; the estimate is TensorBoard's, rounding to even included.
  template <typename Predicate>
  void Keep(const Predicate& keep) {
    const size_t before = points_.size();
    std::erase_if(points_, [&](const T& point) { return !keep(point); });
    const double part =
        before == 0 ? 0 : static_cast<double>(points_.size()) / static_cast<double>(before);
    seen_ = static_cast<uint64_t>(std::nearbyint(static_cast<double>(seen_) * part));
  }

 private:
  const size_t most_;
  std::vector<T> points_;
  uint64_t seen_ = 0;
  // Made when it is needed: most series are short and the generator takes 2.5 KB.
  std::unique_ptr<PythonRandom> random_;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_EVENTS_RESERVOIR_H_
