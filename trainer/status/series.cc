#include "trainer/status/series.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

// What this tree records is five.
constexpr size_t kCurvesMax = 32;

absl::StatusOr<int64_t> ParseSince(std::string_view query) {
  constexpr std::string_view kName = "since=";
  if (query.empty()) return -1;
  int64_t since = 0;
  const char* const end = query.data() + query.size();
  const bool named = query.substr(0, kName.size()) == kName;
  const char* const begin = query.data() + (named ? kName.size() : 0);
  const auto [rest, error] = std::from_chars(begin, end, since);
  if (!named || error != std::errc() || rest != end) {
    return absl::InvalidArgumentError("/series takes ?since=STEP, a whole number, not \"" +
                                      std::string(query) + "\"");
  }
  return since;
}

}  // namespace

void Series::Add(const std::string& name, const Point& point) {
  if (!std::isfinite(point.value)) return;  // JSON has no NaN.
  std::lock_guard lock(mutex_);
  if (curves_.size() >= kCurvesMax && !curves_.contains(name)) return;
  Curve& curve = curves_[name];
  if (curve.points.size() >= kPointsMax) {
    std::vector<Point> kept;
    for (size_t i = 0; i < curve.points.size(); i += 2) kept.push_back(curve.points[i]);
    curve.points = std::move(kept);
    curve.stride *= 2;
  }
  if (curve.added++ % curve.stride == 0) {
    curve.points.push_back(point);
    curve.newest.reset();
  } else {
    curve.newest = point;
  }
}

void Series::DropFrom(int64_t step) {
  std::lock_guard lock(mutex_);
  const auto later = [step](const Point& point) { return point.step >= step; };
  for (auto& [name, curve] : curves_) {
    std::erase_if(curve.points, later);
    if (curve.newest && later(*curve.newest)) curve.newest.reset();
  }
}

std::vector<Series::Point> Series::PointsOf(const Curve& curve) {
  std::vector<Point> points = curve.points;
  if (curve.newest) points.push_back(*curve.newest);
  return points;
}

std::vector<Series::Point> Series::Points(const std::string& name) const {
  std::lock_guard lock(mutex_);
  const auto found = curves_.find(name);
  return found == curves_.end() ? std::vector<Point>() : PointsOf(found->second);
}

absl::StatusOr<std::string> Series::Json(std::string_view query) const {
  ASSIGN_OR_RETURN(const int64_t since, ParseSince(query));
  nlohmann::json series = nlohmann::json::object();
  std::lock_guard lock(mutex_);
  for (const auto& [name, curve] : curves_) {
    nlohmann::json& list = series[name] = nlohmann::json::array();
    for (const Point& point : PointsOf(curve)) {
      if (point.step > since) list.push_back({point.step, point.wall_seconds, point.value});
    }
  }
  return nlohmann::json{{"series", std::move(series)}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace taas
